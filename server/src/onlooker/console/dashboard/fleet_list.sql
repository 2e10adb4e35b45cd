-- name: look_up_only  JIT compilation of the statement below would take longer than running it
SET LOCAL jit = off;

-- name: list_opening_hours  the different opening hours of some streams, each with its time zone
SELECT DISTINCT hours, time_zone FROM streams_stream WHERE id = ANY(%(stream_ids)s::bigint[]) AND hours <> '';

-- name: list_fleet  a page of some streams in an order, and all of them in numbers. Problems and numbers are those of now
-- and of the last days; each stream is looked up by its key. There is always a row: without an id where no stream is found.
WITH local AS MATERIALIZED (
    SELECT time_zone, (%(now)s::timestamptz AT TIME ZONE metrics_known_zone(time_zone))::date AS today
    FROM (SELECT DISTINCT time_zone FROM streams_stream WHERE id = ANY(%(stream_ids)s::bigint[])) named),
fleet AS MATERIALIZED (
    SELECT stream.*, CASE WHEN state = 'offline' THEN 1 WHEN state = 'blind' THEN 2 WHEN state = 'quota' THEN 3
                          WHEN has_old_agent THEN 4 ELSE 5 END AS problem
    FROM (
        SELECT stream.id, stream.name, lower(stream.name) AS small_name, stream.site_id, site.name AS site_name, camera.fault,
               lower(site.name) AS small_site, agent.version, usage.video_s AS used_s, frame.at AS seen_at,
               coalesce(counted.passing_by, 0) AS passing_by, coalesce(counted.interested, 0) AS interested,
               coalesce(covered.watched_ms, 0) AS watched_ms,
               coalesce(agent.version ~ '^[0-9]{1,6}([.][0-9]{1,6}){1,3}$$'
                        AND string_to_array(agent.version, '.')::int[] < %(version)s::int[], false) AS has_old_agent,
               CASE WHEN NOT stream.enabled THEN 'disabled'
                    WHEN stream.kind = 'developer' AND usage.video_s >= %(quota_s)s THEN 'quota'
                    WHEN frame.at > %(now)s::timestamptz - %(live_s)s * interval '1 second'
                    THEN CASE WHEN camera.fault <> '' THEN 'blind' ELSE 'live' END
                    WHEN frame.at IS NOT NULL AND closed.hours IS NOT NULL THEN 'closed'
                    WHEN camera.fault <> '' THEN 'blind'
                    WHEN frame.at IS NULL THEN 'never'
                    ELSE 'offline' END AS state
        FROM streams_stream stream
        JOIN local USING (time_zone)
        LEFT JOIN streams_site site ON site.id = stream.site_id
        LEFT JOIN streams_usage usage ON usage.stream_id = stream.id AND usage.month = %(month)s::date
        LEFT JOIN LATERAL (SELECT max(last_frame_at) AS at FROM streams_usage months
                           WHERE months.stream_id = stream.id) frame ON true
        LEFT JOIN streams_agentcondition agent ON agent.stream_id = stream.id
        LEFT JOIN streams_picturecondition picture ON picture.stream_id = stream.id
        LEFT JOIN LATERAL (
            SELECT CASE WHEN agent.state <> 'seeing'
                             AND agent.received_at > %(now)s::timestamptz - %(fresh_s)s * interval '1 second'
                        THEN agent.state
                        WHEN picture.fault NOT IN ('', 'moved')
                             AND picture.seen_at > %(now)s::timestamptz - %(fresh_s)s * interval '1 second'
                        THEN picture.fault ELSE '' END AS fault) camera ON true
        LEFT JOIN unnest(%(closed_hours)s::text[], %(closed_zones)s::text[]) AS closed (hours, zone)
               ON closed.hours = stream.hours AND closed.zone = stream.time_zone
        LEFT JOIN LATERAL (SELECT sum(passing_by)::bigint AS passing_by, sum(interested)::bigint AS interested
                           FROM metrics_day WHERE stream_id = stream.id AND day <= today AND day > today - %(days)s::int)
                  counted ON true
        LEFT JOIN LATERAL (SELECT sum(watched_ms)::bigint AS watched_ms FROM metrics_daycoverage
                           WHERE stream_id = stream.id AND day <= today AND day > today - %(days)s::int) covered ON true
        WHERE stream.id = ANY(%(stream_ids)s::bigint[]) AND stream.removed_at IS NULL) stream),
found AS MATERIALIZED (
    SELECT *, row_number() OVER (ORDER BY $order, small_name, id) AS place FROM fleet
    WHERE (%(site_id)s::bigint IS NULL OR coalesce(site_id, 0) = %(site_id)s)
      AND (%(tag_id)s::bigint IS NULL OR EXISTS (SELECT FROM streams_streamtag link
                                                 WHERE link.stream_id = fleet.id AND link.tag_id = %(tag_id)s))
      AND (%(state)s::text IS NULL OR state = %(state)s OR (%(state)s = 'old_agent' AND has_old_agent))
      AND (%(words)s::text IS NULL OR strpos(small_name, %(words)s) > 0 OR strpos(small_site, %(words)s) > 0
           OR EXISTS (SELECT FROM streams_streamtag link JOIN streams_tag tag ON tag.id = link.tag_id
                      WHERE link.stream_id = fleet.id AND strpos(lower(tag.name), %(words)s) > 0))),
summary AS (
    SELECT count(*) AS streams, count(*) FILTER (WHERE state = 'live') AS live,
           count(*) FILTER (WHERE state = 'offline') AS offline, count(*) FILTER (WHERE state = 'blind') AS blind,
           count(*) FILTER (WHERE state = 'quota') AS quota, count(*) FILTER (WHERE has_old_agent) AS old_agent,
           count(*) FILTER (WHERE state = 'closed') AS closed, count(*) FILTER (WHERE state = 'never') AS never,
           count(*) FILTER (WHERE state = 'disabled') AS disabled,
           coalesce(sum(passing_by), 0)::bigint AS all_passing_by, coalesce(sum(interested), 0)::bigint AS all_interested,
           coalesce(sum(watched_ms), 0)::bigint AS all_watched_ms
    FROM fleet),
extent AS (
    SELECT (SELECT count(*) FROM found) AS found,
           coalesce((SELECT place FROM found WHERE id = %(after)s::bigint),
                    (SELECT greatest(0, place - 1 - %(limit)s::int) FROM found WHERE id = %(before)s::bigint), 0) AS skipped)
SELECT summary.*, extent.found, page.id, page.place, page.state, page.problem, page.fault, page.version, page.has_old_agent
FROM summary CROSS JOIN extent
LEFT JOIN LATERAL (SELECT * FROM found WHERE place > extent.skipped ORDER BY place LIMIT %(limit)s::int) page ON true
ORDER BY page.place;
