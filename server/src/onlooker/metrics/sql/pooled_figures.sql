-- Figures of chosen slots of many streams, added up by party: a party is what is compared with another one. Runs of slots
-- come as Unix times; `offset_s` is that of their stream's local clock. Each run is looked up by its stream's key
-- (OFFSET 0 keeps it so).

-- name: pool_slots  by cluster of the local clock; of streams that tell in groups, rows tell only how many people there
-- are. Whole days come from their sums, and what is left of a run from slots. A day with blocks is one of slots, too.
SELECT party, cluster, $of_slots
FROM ($runs_with_days) run
CROSS JOIN LATERAL (
    SELECT (day - DATE 'epoch')::bigint AS cluster, $columns FROM metrics_day
    WHERE stream_id = run.stream_id AND day >= first_day AND day < end_day AND (blocks = 0 OR NOT singly)
    UNION ALL
    SELECT (day - DATE 'epoch')::bigint, $of_slot
    FROM metrics_day CROSS JOIN LATERAL (
        SELECT slot.* FROM metrics_slot slot
        WHERE stream_id = run.stream_id AND slot_at >= first_at + (day - first_day) * interval '24 hours'
          AND slot_at < first_at + (day - first_day + 1) * interval '24 hours' OFFSET 0) slot
    WHERE metrics_day.stream_id = run.stream_id AND day >= first_day AND day < end_day AND blocks > 0 AND singly
    UNION ALL
    SELECT floor((date_part('epoch', slot_at) + offset_s) / %(cluster_s)s)::bigint, $of_slot FROM metrics_slot slot
    WHERE stream_id = run.stream_id AND slot_at >= from_at AND slot_at < least(first_at, to_at)
    UNION ALL
    SELECT floor((date_part('epoch', slot_at) + offset_s) / %(cluster_s)s)::bigint, $of_slot FROM metrics_slot slot
    WHERE stream_id = run.stream_id AND slot_at >= end_at AND slot_at < to_at) counted
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: runs_with_days  part of it: runs with the local days that count whole, and when these begin and end: at the end
-- of the run, if there are none. A day counts whole, too, where its stream saw nobody in what of it is outside the run.
-- Both ends must be midnight by this server's clock of the stream's zone, and no clock may go back across the first.
SELECT given.*, first_day, CASE WHEN has_days THEN end_day ELSE first_day END AS end_day,
       CASE WHEN has_days THEN first_at ELSE to_at END AS first_at, CASE WHEN has_days THEN end_at ELSE to_at END AS end_at
FROM ($runs_on_clock) given
CROSS JOIN LATERAL (
    SELECT DATE 'epoch' + first::int AS first_day, to_timestamp(first * 86400 - offset_s) AS first_at,
           DATE 'epoch' + after::int AS end_day, to_timestamp(after * 86400 - offset_s) AS end_at
    FROM (SELECT day_from + EXISTS (
                     SELECT FROM metrics_slot WHERE stream_id = given.stream_id AND slot_at < from_at
                                                AND slot_at >= to_timestamp(day_from * 86400 - offset_s))::int AS first,
                 day_to - EXISTS (
                     SELECT FROM metrics_slot WHERE stream_id = given.stream_id AND slot_at >= to_at
                                                AND slot_at < to_timestamp(day_to * 86400 - offset_s))::int AS after
          OFFSET 0) found) days
CROSS JOIN LATERAL (
    SELECT %(cluster_s)s = 86400 AND first_day < end_day
           AND (first_at - interval '1 second') AT TIME ZONE zone = first_day - interval '1 second'
           AND (end_at - interval '1 second') AT TIME ZONE zone = end_day - interval '1 second'
           AND (end_at AT TIME ZONE zone)::date = end_day AS has_days) known

-- name: runs_on_clock  part of it: runs with the days of the local clock, counted from 1970, in which they begin and after
-- which they end
SELECT given.*, singly, zone, to_timestamp(from_s) AS from_at, to_timestamp(to_s) AS to_at,
       (from_s + offset_s) / 86400 AS day_from, (to_s + offset_s + 86399) / 86400 AS day_to
FROM unnest(%(parties)s::int[], %(stream_ids)s::bigint[], %(begins_s)s::bigint[], %(ends_s)s::bigint[],
            %(offsets_s)s::int[]) AS given (party, stream_id, from_s, to_s, offset_s)
JOIN (SELECT id AS stream_id, grouped_until < 'infinity' AS singly, metrics_known_zone(time_zone) AS zone
      FROM streams_stream WHERE id = ANY(%(stream_ids)s::bigint[]) OFFSET 0) stream USING (stream_id)

-- name: pool_blocks  the blocks that lie inside a run, one by one; `until_s`: none of their visits lasts longer
SELECT party, date_part('epoch', begins_at)::bigint + offset_s AS from_s,
       date_part('epoch', ends_at)::bigint + offset_s AS to_s, $of_blocks
FROM unnest(%(parties)s::int[], %(stream_ids)s::bigint[], %(begins_s)s::bigint[], %(ends_s)s::bigint[],
            %(offsets_s)s::int[], %(until_s)s::float8[])
    AS run (party, stream_id, begin_s, end_s, offset_s, until_s)
CROSS JOIN LATERAL (
    SELECT * FROM metrics_block
    WHERE stream_id = run.stream_id AND begins_at >= to_timestamp(begin_s) AND begins_at < to_timestamp(end_s)
      AND ends_at <= to_timestamp(end_s) AND reaches_at <= to_timestamp(until_s) OFFSET 0) block
ORDER BY 1, 2, 3;

-- name: sum_watched  how many seconds of the runs were watched: whole hours from their sums, the rest from slots
SELECT party, sum(watched_s) AS watched_s
FROM unnest(%(parties)s::int[], %(stream_ids)s::bigint[], %(begins_s)s::bigint[], %(ends_s)s::bigint[])
    AS run (party, stream_id, from_s, to_s)
CROSS JOIN LATERAL (SELECT (from_s + 3599) / 3600 * 3600 AS first_s, to_s / 3600 * 3600 AS last_s) hours
CROSS JOIN LATERAL (
    SELECT covered_s AS watched_s FROM metrics_coveragehour
    WHERE stream_id = run.stream_id AND hour_at >= to_timestamp(first_s) AND hour_at < to_timestamp(last_s)
    UNION ALL
    SELECT least(video_s, $slot_s) FROM streams_coverage
    WHERE stream_id = run.stream_id
      AND slot_at >= to_timestamp(from_s) AND slot_at < to_timestamp(least(first_s, to_s))
    UNION ALL
    SELECT least(video_s, $slot_s) FROM streams_coverage
    WHERE stream_id = run.stream_id AND first_s <= last_s
      AND slot_at >= to_timestamp(last_s) AND slot_at < to_timestamp(to_s)) watched
GROUP BY 1;

-- name: read_hours  the opening hours that held before a stream's period ends, oldest first
SELECT number, array_agg(ARRAY[extract(epoch FROM version.since_at)::text, version.hours, version.time_zone]
                         ORDER BY version.since_at) AS versions
FROM unnest(%(stream_ids)s::bigint[], %(ends)s::timestamptz[]) WITH ORDINALITY AS given (stream_id, to_at, number)
JOIN streams_openinghours version ON version.stream_id = given.stream_id AND version.since_at < to_at
GROUP BY number;
