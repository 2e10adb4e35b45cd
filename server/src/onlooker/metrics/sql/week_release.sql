-- name: read_week_progress  a grouped stream, up to where its weeks are dealt with, and its first visit that is in no
-- block yet
SELECT groups_of, time_zone, compute, weeks_until, kept.since AS kept_since,
       (SELECT min(began_at) FROM visits_visit WHERE stream_id = stream.id AND began_at >= blocked_until) AS first_at
FROM streams_stream stream
JOIN (SELECT stream_id, blocked_until, nullif(weeks_until, '-infinity') AS weeks_until FROM metrics_blockprogress) progress
    ON progress.stream_id = stream.id
LEFT JOIN visits_kept kept ON kept.stream_id = stream.id
WHERE stream.id = %(stream_id)s AND groups_of > 1;

-- name: find_next_block  the first block from a moment on, up to another one
SELECT min(begins_at) AS begins_at FROM metrics_block
WHERE stream_id = %(stream_id)s AND begins_at < %(to_at)s
  AND begins_at >= coalesce(%(from_at)s::timestamptz, '-infinity');

-- name: list_week_blocks  the blocks that begin in a week, as they were released
SELECT * FROM metrics_block
WHERE stream_id = %(stream_id)s AND begins_at >= %(from_at)s AND begins_at < %(to_at)s ORDER BY begins_at;

-- name: note_weeks  weeks up to a moment are told, or never will be
UPDATE metrics_blockprogress SET weeks_until = %(weeks_until)s
WHERE stream_id = %(stream_id)s AND weeks_until < %(weeks_until)s;

-- name: insert_week  how a week is told
INSERT INTO metrics_week (stream_id, begins_at, ends_at, genders, ages)
VALUES (%(stream_id)s, %(begins_at)s, %(ends_at)s, %(genders)s, %(ages)s);
