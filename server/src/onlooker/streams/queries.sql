-- name: find_stream  a stream by its client_id, with its live tokens, this month's use and the state the log has
SELECT stream.id, stream.kind, stream.enabled,
       stream.reads_age, stream.reads_gender, stream.reads_expression, stream.retention_days,
       coalesce(usage.video_s, 0) AS video_s,
       (SELECT change.state FROM streams_statechange change
        WHERE change.stream_id = stream.id ORDER BY change.id DESC LIMIT 1) AS logged_state,
       array(SELECT token.sha256 FROM streams_accesstoken token
             WHERE token.stream_id = stream.id
               AND (token.expires_at IS NULL OR token.expires_at > now())) AS token_hashes
FROM streams_stream stream
LEFT JOIN streams_usage usage
       ON usage.stream_id = stream.id AND usage.month = %(month)s
WHERE stream.client_id = %(client_id)s;

-- name: add_usage  count computed video and say what the months hold now; always in one order, so that nobody deadlocks
INSERT INTO streams_usage (stream_id, month, video_s)
SELECT stream.id, counted.month, counted.video_s
FROM unnest(%(stream_ids)s::bigint[], %(months)s::date[], %(video_s)s::float8[]) AS counted (stream_id, month, video_s)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2
ON CONFLICT (stream_id, month) DO UPDATE SET video_s = streams_usage.video_s + excluded.video_s
RETURNING stream_id, month, video_s;

-- name: add_coverage  count computed video by slot
INSERT INTO streams_coverage (stream_id, slot_at, video_s)
SELECT stream.id, to_timestamp(counted.slot * 900), counted.video_s
FROM unnest(%(stream_ids)s::bigint[], %(slots)s::bigint[], %(video_s)s::float8[]) AS counted (stream_id, slot, video_s)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2
ON CONFLICT (stream_id, slot_at) DO UPDATE SET video_s = streams_coverage.video_s + excluded.video_s;

-- name: add_refusals  count refused frames by slot and reason
INSERT INTO streams_refusal (stream_id, slot_at, reason, frames)
SELECT stream.id, to_timestamp(counted.slot * 900), counted.reason, counted.frames
FROM unnest(%(stream_ids)s::bigint[], %(slots)s::bigint[], %(reasons)s::text[], %(frames)s::bigint[])
     AS counted (stream_id, slot, reason, frames)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2, 3
ON CONFLICT (stream_id, slot_at, reason) DO UPDATE SET frames = streams_refusal.frames + excluded.frames;

-- name: sweep_coverage  slots that are older than anything the stream keeps; in batches, found by the index of each stream
DELETE FROM streams_coverage WHERE id IN (
    SELECT old.id FROM streams_stream stream
    CROSS JOIN LATERAL (SELECT id FROM streams_coverage coverage
                        WHERE coverage.stream_id = stream.id
                          AND coverage.slot_at < now() - stream.retention_days * interval '1 day' - interval '1 hour'
                        LIMIT 1000) old
    LIMIT 5000);

-- name: sweep_refusals  the same for refused frames
DELETE FROM streams_refusal WHERE id IN (
    SELECT old.id FROM streams_stream stream
    CROSS JOIN LATERAL (SELECT id FROM streams_refusal refusal
                        WHERE refusal.stream_id = stream.id
                          AND refusal.slot_at < now() - stream.retention_days * interval '1 day' - interval '1 hour'
                        LIMIT 1000) old
    LIMIT 5000);

-- name: lock_stream  before its state is looked at; in a statement of its own, so that the next sees what others wrote
SELECT 1 FROM streams_stream WHERE id = %(stream_id)s FOR NO KEY UPDATE;

-- name: log_state  write down what a stream may do now, if the log does not say so already
INSERT INTO streams_statechange (stream_id, at, state)
SELECT now_so.stream_id, clock_timestamp(), now_so.state
FROM (SELECT stream.id AS stream_id,
             CASE WHEN NOT stream.enabled THEN 'disabled'
                  WHEN stream.kind = 'developer' AND usage.video_s >= %(quota_s)s THEN 'quota'
                  ELSE 'enabled' END AS state
      FROM streams_stream stream
      LEFT JOIN streams_usage usage ON usage.stream_id = stream.id AND usage.month = %(month)s
      WHERE stream.id = %(stream_id)s) now_so
WHERE now_so.state IS DISTINCT FROM (SELECT change.state FROM streams_statechange change
                                     WHERE change.stream_id = now_so.stream_id
                                     ORDER BY change.id DESC LIMIT 1);
