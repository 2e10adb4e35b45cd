-- name: read_watched  runs of slots that were watched for at least so many seconds, inside some ranges; numbered from 1
SELECT number, date_part('epoch', min(slot_at))::bigint AS from_s, date_part('epoch', max(slot_at) + $slot)::bigint AS to_s
FROM (
    SELECT number, slot_at, slot_at - row_number() OVER (PARTITION BY number ORDER BY slot_at) * $slot AS run
    FROM unnest(%(begins)s::timestamptz[], %(ends)s::timestamptz[]) WITH ORDINALITY AS given (from_at, to_at, number)
    CROSS JOIN LATERAL (
        SELECT slot_at FROM streams_coverage
        WHERE stream_id = %(stream_id)s AND slot_at >= from_at AND slot_at <= to_at - $slot
          AND video_s >= %(least_s)s) coverage) watched
GROUP BY number, run ORDER BY number, from_s;

-- name: sum_watched  how many seconds were watched in some runs of slots; `before` tells the two periods apart
SELECT before, sum(least(video_s, $slot_s)) AS watched_s
FROM unnest(%(begins_s)s::bigint[], %(ends_s)s::bigint[], %(before)s::boolean[]) AS given (from_s, to_s, before)
CROSS JOIN LATERAL (
    SELECT video_s FROM streams_coverage
    WHERE stream_id = %(stream_id)s AND slot_at >= to_timestamp(from_s) AND slot_at < to_timestamp(to_s)) coverage
GROUP BY before;
