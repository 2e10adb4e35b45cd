-- Numbers of many streams, from their daily roll-up. Each stream is looked up by its key (OFFSET 0 keeps it so): no table
-- is read across streams, and a plan for few of them is right for thousands.

-- name: given_streams  part of all: the streams that are asked for, and the last day of the period there: today, or
-- the one that is named
local AS MATERIALIZED (
    SELECT time_zone, metrics_known_zone(time_zone) AS zone,
           coalesce(%(last_day)s::date, (%(now)s::timestamptz AT TIME ZONE metrics_known_zone(time_zone))::date) AS today
    FROM (SELECT DISTINCT time_zone FROM streams_stream WHERE id = ANY(%(stream_ids)s::bigint[])) named),
stream AS MATERIALIZED (
    SELECT id, today, zone, greatest(created_at, coverage_since) AS since_at
    FROM streams_stream JOIN local USING (time_zone)
    WHERE id = ANY(%(stream_ids)s::bigint[]) AND removed_at IS NULL)

-- name: read_totals  all figures over the period, of the streams together or of each ($key)
WITH $given_streams
SELECT $key AS stream_id, $totals
FROM stream CROSS JOIN LATERAL (
    SELECT * FROM metrics_day
    WHERE stream_id = stream.id AND day > today - %(days)s::int AND day <= today OFFSET 0) counted
GROUP BY 1;

-- name: read_days  what is compared, day by day
WITH $given_streams
SELECT $key AS stream_id, day, $sums
FROM stream CROSS JOIN LATERAL (
    SELECT * FROM metrics_day
    WHERE stream_id = stream.id AND day > today - %(days)s::int AND day <= today OFFSET 0) counted
GROUP BY 1, 2;

-- name: read_watched_days  how long was watched day by day; days of the earlier period are those before its end
WITH $given_streams
SELECT $key AS stream_id, day, day > today - %(days)s::int AS is_now, count(*) FILTER (WHERE watched_ms > 0) AS streams,
       sum(watched_ms)::bigint AS watched_ms, sum(blind_ms)::bigint AS blind_ms
FROM stream CROSS JOIN LATERAL (
    SELECT * FROM metrics_daycoverage
    WHERE stream_id = stream.id AND day > today - %(days)s::int - %(shift)s::int AND day <= today OFFSET 0) covered
WHERE day > today - %(days)s::int OR day <= today - %(shift)s::int
GROUP BY 1, 2, 3;

-- name: read_alike_days  days of the period that were watched for nearly as long as the same weekday of the earlier one,
-- with both: only those are compared
WITH $given_streams
SELECT $key AS stream_id, now.day, sum(now.watched_ms)::bigint AS alike_ms, sum(before.watched_ms)::bigint AS alike_before_ms,
       $alike, $alike_before
FROM stream CROSS JOIN LATERAL (
    SELECT * FROM metrics_daycoverage
    WHERE stream_id = stream.id AND day > today - %(days)s::int AND day <= today AND watched_ms > 0 OFFSET 0) now
CROSS JOIN LATERAL (
    SELECT * FROM metrics_daycoverage
    WHERE stream_id = stream.id AND day = now.day - %(shift)s::int AND watched_ms > 0 OFFSET 0) before
LEFT JOIN LATERAL (
    SELECT * FROM metrics_day WHERE stream_id = stream.id AND day = now.day OFFSET 0) ours ON true
LEFT JOIN LATERAL (
    SELECT * FROM metrics_day WHERE stream_id = stream.id AND day = now.day - %(shift)s::int OFFSET 0) theirs ON true
WHERE least(now.watched_ms, before.watched_ms) >= %(alike)s * greatest(now.watched_ms, before.watched_ms)
GROUP BY 1, 2;

-- name: read_opened  from when to when each stream is expected to watch in the period, and which opening hours held
-- when; streams of which all are equal together
WITH $given_streams
SELECT array_agg(id) AS stream_ids, begins_at, ends_at, versions
FROM (SELECT id,
             greatest(since_at, (today - %(days)s::int + 1)::timestamp AT TIME ZONE zone) AS begins_at,
             least(%(now)s::timestamptz, (today + 1)::timestamp AT TIME ZONE zone) AS ends_at,
             coalesce((SELECT jsonb_agg(jsonb_build_array(extract(epoch FROM version.since_at)::float8, version.hours,
                                                          version.time_zone) ORDER BY version.since_at)
                       FROM streams_openinghours version
                       WHERE version.stream_id = stream.id AND version.since_at < %(now)s::timestamptz),
                      '[]') AS versions
      FROM stream) opened
GROUP BY begins_at, ends_at, versions;
