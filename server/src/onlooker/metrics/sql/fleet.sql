-- Numbers of many streams, from their daily roll-up. Each stream is looked up by its key, so that a plan for few of them
-- is right for thousands.

-- name: given_streams  part of all: the streams that are asked for, and which day it is there
local AS MATERIALIZED (
    SELECT time_zone, metrics_known_zone(time_zone) AS zone,
           (%(now)s::timestamptz AT TIME ZONE metrics_known_zone(time_zone))::date AS today
    FROM (SELECT DISTINCT time_zone FROM streams_stream WHERE id = ANY(%(stream_ids)s::bigint[])) named),
stream AS MATERIALIZED (
    SELECT id, today, zone, greatest(created_at, coverage_since) AS since_at
    FROM streams_stream JOIN local USING (time_zone)
    WHERE id = ANY(%(stream_ids)s::bigint[]) AND removed_at IS NULL)

-- name: paired_days  part of both below: a stream's days of the period, each with the same weekday of the earlier one.
-- `is_alike` where both were watched, and for nearly as long: only those are compared.
SELECT *, coalesce(watched_ms > 0 AND before_ms > 0
                   AND least(watched_ms, before_ms) >= %(alike)s * greatest(watched_ms, before_ms), false) AS is_alike
FROM (
    SELECT pair_day, sum(watched_ms) FILTER (WHERE is_now) AS watched_ms, sum(blind_ms) FILTER (WHERE is_now) AS blind_ms,
           sum(watched_ms) FILTER (WHERE NOT is_now) AS before_ms, $now_sums, $before_sums
    FROM (
        SELECT day > today - %(days)s::int AS is_now, watched_ms, blind_ms, $nothing,
               CASE WHEN day > today - %(days)s::int THEN day ELSE day + %(shift)s::int END AS pair_day
        FROM metrics_daycoverage
        WHERE stream_id = stream.id AND day <= today AND day > today - %(days)s::int - %(shift)s::int
          AND (day > today - %(days)s::int OR day <= today - %(shift)s::int)
        UNION ALL
        SELECT day > today - %(days)s::int, 0, 0, $columns,
               CASE WHEN day > today - %(days)s::int THEN day ELSE day + %(shift)s::int END
        FROM metrics_day
        WHERE stream_id = stream.id AND day <= today AND day > today - %(days)s::int - %(shift)s::int
          AND (day > today - %(days)s::int OR day <= today - %(shift)s::int)) part
    GROUP BY pair_day) pair

-- name: read_group  the streams together, day by day
WITH $given_streams
SELECT pair_day AS day, count(*) FILTER (WHERE watched_ms > 0) AS streams,
       coalesce(sum(watched_ms), 0)::bigint AS watched_ms, coalesce(sum(blind_ms), 0)::bigint AS blind_ms,
       coalesce(sum(before_ms), 0)::bigint AS before_ms,
       coalesce(sum(watched_ms) FILTER (WHERE is_alike), 0)::bigint AS alike_ms,
       coalesce(sum(before_ms) FILTER (WHERE is_alike), 0)::bigint AS alike_before_ms,
       $totals, $alike, $alike_before
FROM stream CROSS JOIN LATERAL ($paired_days) paired
GROUP BY pair_day ORDER BY pair_day;

-- name: read_streams  each stream by itself, day by day
WITH $given_streams
SELECT id AS stream_id, pair_day AS day, 1 AS streams,
       coalesce(watched_ms, 0)::bigint AS watched_ms, coalesce(blind_ms, 0)::bigint AS blind_ms,
       coalesce(before_ms, 0)::bigint AS before_ms,
       CASE WHEN is_alike THEN watched_ms ELSE 0 END::bigint AS alike_ms,
       CASE WHEN is_alike THEN before_ms ELSE 0 END::bigint AS alike_before_ms,
       $each, $each_alike, $each_alike_before
FROM stream CROSS JOIN LATERAL ($paired_days) paired
ORDER BY id, pair_day;

-- name: read_opened  since when each stream is expected to watch in the period, and which opening hours held when;
-- streams of which both are equal together
WITH $given_streams
SELECT array_agg(id) AS stream_ids, begins_at, versions
FROM (SELECT id,
             greatest(since_at, (today - %(days)s::int + 1)::timestamp AT TIME ZONE zone) AS begins_at,
             coalesce((SELECT jsonb_agg(jsonb_build_array(extract(epoch FROM version.since_at)::float8, version.hours,
                                                          version.time_zone) ORDER BY version.since_at)
                       FROM streams_openinghours version
                       WHERE version.stream_id = stream.id AND version.since_at < %(now)s::timestamptz),
                      '[]') AS versions
      FROM stream) opened
GROUP BY begins_at, versions;
