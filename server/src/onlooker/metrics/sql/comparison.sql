-- name: read_watched  runs of slots that were watched for at least so many seconds, inside ranges of streams; numbered from 1.
-- An hour in which less than one slot's rest is missing has no other slots: only of other hours the slots are read.
SELECT number, min(from_s) AS from_s, max(from_s + length_s) AS to_s
FROM (
    SELECT number, from_s, length_s, from_s + length_s - sum(length_s) OVER (PARTITION BY number ORDER BY from_s) AS run
    FROM unnest(%(stream_ids)s::bigint[], %(begins)s::timestamptz[], %(ends)s::timestamptz[])
        WITH ORDINALITY AS given (stream_id, from_at, to_at, number)
    CROSS JOIN LATERAL (
        SELECT hour_at, hour_at >= from_at AND hour_at <= to_at - interval '1 hour'
                        AND slots * $slot_s = 3600 AND covered_s > 3600 - $slot_s + %(least_s)s + 0.001 AS is_whole
        FROM metrics_coveragehour
        WHERE stream_id = given.stream_id AND hour_at > from_at - interval '1 hour' AND hour_at < to_at) hour
    CROSS JOIN LATERAL (
        SELECT date_part('epoch', hour_at)::bigint AS from_s, 3600 AS length_s WHERE is_whole
        UNION ALL
        SELECT date_part('epoch', slot_at)::bigint, $slot_s FROM streams_coverage
        WHERE NOT is_whole AND stream_id = given.stream_id
          AND slot_at >= greatest(hour_at, from_at) AND slot_at < hour_at + interval '1 hour'
          AND slot_at <= to_at - $slot AND video_s >= %(least_s)s) watched) numbered
GROUP BY number, run ORDER BY number, from_s;

-- name: read_watched_days  runs of local days of which the same is known. Their sums are off by less than a thousandth of
-- a second a slot. Only days of 24 hours, which begin when the clock shows midnight for the first time.
SELECT number, date_part('epoch', min(begins_at))::bigint AS from_s, date_part('epoch', max(ends_at))::bigint AS to_s
FROM (
    SELECT number, begins_at, ends_at, day - (row_number() OVER (PARTITION BY number ORDER BY day))::int AS run
    FROM unnest(%(stream_ids)s::bigint[], %(begins)s::timestamptz[], %(ends)s::timestamptz[])
        WITH ORDINALITY AS given (stream_id, from_at, to_at, number)
    JOIN (SELECT id AS stream_id, metrics_known_zone(time_zone) AS zone
          FROM streams_stream WHERE id = ANY(%(stream_ids)s::bigint[]) OFFSET 0) stream USING (stream_id)
    CROSS JOIN LATERAL (
        SELECT day, day::timestamp AT TIME ZONE zone AS begins_at, (day + 1)::timestamp AT TIME ZONE zone AS ends_at
        FROM metrics_daycoverage
        WHERE stream_id = given.stream_id
          AND day >= (from_at AT TIME ZONE zone)::date AND day < (to_at AT TIME ZONE zone)::date
          AND slots * $slot_s = 86400 AND watched_ms > 1000 * (86400 - $slot_s + %(least_s)s) + slots OFFSET 0) day
    WHERE begins_at >= from_at AND ends_at <= to_at AND ends_at - begins_at = interval '24 hours'
      AND (begins_at - interval '1 second') AT TIME ZONE zone = day - interval '1 second') whole
GROUP BY number, run ORDER BY number, from_s;

-- name: sum_watched  how many seconds were watched in some runs of slots; `before` tells the two periods apart
SELECT before, sum(least(video_s, $slot_s)) AS watched_s
FROM unnest(%(begins_s)s::bigint[], %(ends_s)s::bigint[], %(before)s::boolean[]) AS given (from_s, to_s, before)
CROSS JOIN LATERAL (
    SELECT video_s FROM streams_coverage
    WHERE stream_id = %(stream_id)s AND slot_at >= to_timestamp(from_s) AND slot_at < to_timestamp(to_s)) coverage
GROUP BY before;
