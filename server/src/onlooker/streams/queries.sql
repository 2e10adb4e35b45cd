-- name: find_stream  a stream by its client_id, with its live tokens and this month's use
SELECT stream.id, stream.kind, stream.enabled,
       coalesce(usage.video_s, 0) AS video_s,
       array(SELECT token.sha256 FROM streams_accesstoken token
             WHERE token.stream_id = stream.id
               AND (token.expires_at IS NULL OR token.expires_at > now())) AS token_hashes
FROM streams_stream stream
LEFT JOIN streams_usage usage
       ON usage.stream_id = stream.id AND usage.month = %(month)s
WHERE stream.client_id = %(client_id)s;

-- name: add_usage  count computed video and say what the month holds now
INSERT INTO streams_usage (stream_id, month, video_s)
SELECT id, %(month)s, %(video_s)s FROM streams_stream WHERE id = %(stream_id)s
ON CONFLICT (stream_id, month) DO UPDATE SET video_s = streams_usage.video_s + excluded.video_s
RETURNING video_s;
