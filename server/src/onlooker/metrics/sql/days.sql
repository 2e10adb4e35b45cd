-- name: next_stream  the stream after another one; NULL once there is none
SELECT min(id) FROM streams_stream WHERE id > %(after)s;

-- name: fill_days  add up a stream's days again. Writers of its slots wait meanwhile.
SELECT metrics_fill_days(%(stream_id)s);

-- name: count_wrong_days  days of a stream that are not the sums of its slots and blocks, or of what was watched
WITH zone AS MATERIALIZED (
    SELECT metrics_known_zone(time_zone) AS zone FROM streams_stream WHERE id = %(stream_id)s),
counted AS (
    SELECT (at AT TIME ZONE zone)::date AS day, sum(slots) AS slots, sum(blocks) AS blocks, $summed
    FROM (SELECT slot_at AS at, 1 AS slots, 0 AS blocks, $of_slots FROM metrics_slot WHERE stream_id = %(stream_id)s
          UNION ALL
          SELECT begins_at, 0, 1, $of_blocks FROM metrics_block WHERE stream_id = %(stream_id)s) part, zone
    GROUP BY 1),
watched AS (
    SELECT (slot_at AT TIME ZONE zone)::date AS day, sum(slots) AS slots, sum(faults) AS faults,
           sum(watched_ms) AS watched_ms, sum(blind_ms) AS blind_ms
    FROM (SELECT slot_at, 1 AS slots, 0 AS faults, round(least(video_s, $slot_s) * 1000) AS watched_ms, 0 AS blind_ms
          FROM streams_coverage WHERE stream_id = %(stream_id)s
          UNION ALL
          SELECT slot_at, 0, 1, 0, round(least(video_s, $slot_s) * 1000)
          FROM streams_blindness WHERE stream_id = %(stream_id)s) part, zone
    GROUP BY 1),
kept AS (SELECT day, slots, blocks, $columns FROM metrics_day WHERE stream_id = %(stream_id)s),
kept_watched AS (
    SELECT day, slots, faults, watched_ms, blind_ms FROM metrics_daycoverage WHERE stream_id = %(stream_id)s)
SELECT count(DISTINCT day) FROM (
    SELECT day FROM (TABLE kept EXCEPT ALL TABLE counted) unlike
    UNION ALL SELECT day FROM (TABLE counted EXCEPT ALL TABLE kept) unlike
    UNION ALL SELECT day FROM (TABLE kept_watched EXCEPT ALL TABLE watched) unlike
    UNION ALL SELECT day FROM (TABLE watched EXCEPT ALL TABLE kept_watched) unlike) wrong;
