-- name: find_known_since  the moment from which all coverage is there; it is kept as long as the stream, but earlier
-- releases deleted some. Of a stream that is gone nothing is known.
SELECT coalesce(known.since, %(now)s) AS since
FROM (SELECT) always
LEFT JOIN (SELECT coalesce(coverage_since, 'epoch') AS since
           FROM streams_stream WHERE id = %(stream_id)s) known ON true;

-- name: read_closures  when a stream could not compute, inside a range: before it was created, and by its log of states.
-- A used-up quota ends with its month.
WITH stream AS (SELECT created_at FROM streams_stream WHERE id = %(stream_id)s),
logged AS (
    SELECT state, at,
           least(lead(at) OVER (ORDER BY id),
                 CASE WHEN state = 'quota'
                      THEN (date_trunc('month', at AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'
                      ELSE 'infinity' END) AS until_at
    FROM streams_statechange WHERE stream_id = %(stream_id)s),
closure AS (
    SELECT 'not_created' AS state, '-infinity' AS at, created_at AS until_at FROM stream
    UNION ALL
    SELECT state, greatest(at, created_at), until_at FROM logged, stream WHERE state <> 'enabled')
SELECT state, greatest(at, %(from_at)s) AS from_at, least(until_at, %(to_at)s) AS to_at
FROM closure
WHERE at < %(to_at)s AND until_at > %(from_at)s AND at < until_at
ORDER BY at;

-- name: read_opening_hours  which opening hours held inside a range, and when; no row before the first ones
SELECT hours, time_zone, greatest(since_at, %(from_at)s) AS from_at, least(until_at, %(to_at)s) AS to_at
FROM (SELECT hours, time_zone, since_at,
             coalesce(lead(since_at) OVER (ORDER BY since_at), 'infinity') AS until_at
      FROM streams_openinghours WHERE stream_id = %(stream_id)s) version
WHERE since_at < %(to_at)s AND until_at > %(from_at)s AND hours <> ''
ORDER BY since_at;

-- name: read_blindness  seconds in which the camera saw nothing, between consecutive cuts, by the most frequent reason for
-- refusals in their slot and by fault. A slot is never blind for longer than it was not covered; cut slots as below.
WITH given AS MATERIALIZED (
    SELECT ARRAY(SELECT to_timestamp(unnest(%(cuts_s)s::float8[]))) AS cuts),
blind AS MATERIALIZED (
    SELECT slot_at, fault, video_s, sum(video_s) OVER (PARTITION BY slot_at) AS slot_blind_s,
           least($slot_s, date_part('epoch', %(now)s - slot_at)) AS slot_s
    FROM streams_blindness
    WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - $slot AND slot_at < %(to_at)s AND video_s > 0),
refusal AS (
    SELECT DISTINCT ON (slot_at) slot_at, reason FROM streams_refusal
    WHERE stream_id = %(stream_id)s AND slot_at IN (SELECT slot_at FROM blind) AND reason <> ALL(%(told_by_state)s)
    ORDER BY slot_at, frames DESC, reason)
SELECT number, reason, fault,
       sum(blind.video_s * least(1, (slot_s - least(coalesce(coverage.video_s, 0), slot_s)) / slot_blind_s)
           * length_s / slot_s)
FROM given
CROSS JOIN blind
LEFT JOIN refusal USING (slot_at)
LEFT JOIN streams_coverage coverage ON coverage.stream_id = %(stream_id)s AND coverage.slot_at = blind.slot_at
CROSS JOIN LATERAL generate_series(
    greatest(1, width_bucket(blind.slot_at, cuts)),
    least(width_bucket(blind.slot_at + $slot - interval '1 microsecond', cuts), cardinality(cuts) - 1)) number
CROSS JOIN LATERAL (
    SELECT date_part('epoch', least(blind.slot_at + $slot, cuts[number + 1])
                              - greatest(blind.slot_at, cuts[number])) AS length_s) part
GROUP BY 1, 2, 3;

-- name: read_coverage  what was computed and what was refused between consecutive cuts, summed by each slot's most frequent
-- reason. A slot that is cut counts in proportion; the current slot is as long as it has lasted. Most hours have no slot
-- that is cut or refused and are not cut themselves: these come from sums of whole hours, all others from slots.
WITH given AS MATERIALIZED (
    SELECT ARRAY(SELECT to_timestamp(unnest(%(cuts_s)s::float8[]))) AS cuts),
refusal AS MATERIALIZED (
    SELECT DISTINCT ON (slot_at) slot_at, reason FROM streams_refusal
    WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - $slot AND slot_at < %(to_at)s
      AND reason <> ALL(%(told_by_state)s)
    ORDER BY slot_at, frames DESC, reason),
special AS MATERIALIZED (
    SELECT slot_at, reason FROM refusal
    FULL JOIN (SELECT to_timestamp(unnest(%(cut_slots_s)s::float8[])) AS slot_at) cut USING (slot_at)),
mixed AS MATERIALIZED (
    SELECT to_timestamp(unnest(%(cut_hours_s)s::float8[])) AS hour_at
    UNION
    SELECT date_bin('1 hour', slot_at, 'epoch') FROM special)
SELECT width_bucket(hour_at, (SELECT cuts FROM given)) AS number, NULL AS reason, $slot_s::float8 * sum(slots) AS length_s,
       sum(covered_s) AS covered_s
FROM metrics_coveragehour
WHERE stream_id = %(stream_id)s AND hour_at >= %(from_at)s AND hour_at < %(to_at)s
  AND hour_at NOT IN (SELECT hour_at FROM mixed)
GROUP BY 1
UNION ALL
SELECT width_bucket(slot_at, (SELECT cuts FROM given)), NULL, $slot_s::float8 * count(*), sum(least(video_s, $slot_s))
FROM mixed
CROSS JOIN LATERAL (
    SELECT slot_at, video_s FROM streams_coverage
    WHERE stream_id = %(stream_id)s AND slot_at >= greatest(hour_at, %(from_at)s)
      AND slot_at < least(hour_at + interval '1 hour', %(to_at)s)
    OFFSET 0) coverage
WHERE slot_at NOT IN (SELECT slot_at FROM special)
GROUP BY 1
UNION ALL
SELECT number, reason, sum(length_s), sum(least(coalesce(video_s, 0), slot_s) * length_s / slot_s)
FROM given
CROSS JOIN special
LEFT JOIN streams_coverage coverage ON coverage.stream_id = %(stream_id)s AND coverage.slot_at = special.slot_at
CROSS JOIN LATERAL generate_series(
    greatest(1, width_bucket(special.slot_at, cuts)),
    least(width_bucket(special.slot_at + $slot - interval '1 microsecond', cuts), cardinality(cuts) - 1)) number
CROSS JOIN LATERAL (
    SELECT least($slot_s, date_part('epoch', %(now)s - special.slot_at)) AS slot_s,
           date_part('epoch', least(special.slot_at + $slot, cuts[number + 1])
                              - greatest(special.slot_at, cuts[number])) AS length_s) part
WHERE reason IS NOT NULL OR video_s IS NOT NULL
GROUP BY 1, 2;
