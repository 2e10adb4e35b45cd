-- Figures of chosen slots of many streams, added up by party: a party is what is compared with another one. Runs of slots
-- come as Unix times; `offset_s` is that of their stream's local clock. Each run is looked up by its stream's key
-- (OFFSET 0 keeps it so).

-- name: pool_slots  by cluster of the local clock; of streams that tell in groups, rows tell only how many people there are
SELECT party, floor((date_part('epoch', slot_at) + offset_s) / %(cluster_s)s)::bigint AS cluster, $of_slots
FROM (SELECT given.*, stream.grouped_until < 'infinity' AS singly
      FROM unnest(%(parties)s::int[], %(stream_ids)s::bigint[], %(begins_s)s::bigint[], %(ends_s)s::bigint[],
                  %(offsets_s)s::int[]) AS given (party, stream_id, from_s, to_s, offset_s)
      JOIN streams_stream stream ON stream.id = stream_id) run
CROSS JOIN LATERAL (
    SELECT slot_at, $columns FROM metrics_slot
    WHERE stream_id = run.stream_id AND slot_at >= to_timestamp(from_s) AND slot_at < to_timestamp(to_s) OFFSET 0) slot
GROUP BY 1, 2 ORDER BY 1, 2;

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
