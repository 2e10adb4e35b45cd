-- name: list_grouped  the streams whose people are told about in groups
SELECT id FROM streams_stream WHERE groups_of > 1 AND removed_at IS NULL ORDER BY id;

-- name: begin_progress  a stream's progress, so that there is a row to lock
INSERT INTO metrics_blockprogress (stream_id, blocked_until)
SELECT id, '-infinity' FROM streams_stream WHERE id = %(stream_id)s ON CONFLICT DO NOTHING;

-- name: lock_progress  one process at a time releases blocks of a stream; a change of its setting waits, too
SELECT FROM metrics_blockprogress WHERE stream_id = %(stream_id)s FOR UPDATE;

-- name: read_grouped  a stream's settings, its progress, and the first of its visits from there on: no row if it is not
-- grouped, or has none
SELECT groups_of, time_zone, compute, nullif(blocked_until, '-infinity') AS blocked_until,
       (SELECT min(began_at) FROM visits_visit WHERE stream_id = stream.id AND began_at >= blocked_until) AS first_at
FROM streams_stream stream JOIN metrics_blockprogress progress ON progress.stream_id = stream.id
WHERE stream.id = %(stream_id)s AND groups_of > 1
  AND EXISTS (SELECT FROM visits_visit WHERE stream_id = stream.id AND began_at >= blocked_until);

-- name: read_delivered  up to where devices have handed over all that they had. One that was replaced is not waited for:
-- it told nothing for a day in which another did.
SELECT min(slot_at) AS delivered_at
FROM (SELECT max(slot_at) FILTER (WHERE whole_at <= %(settled_at)s) AS slot_at, max(last_at) AS last_at,
             max(max(last_at)) OVER () AS newest_at
      FROM streams_devicecoverage
      WHERE stream_id = %(stream_id)s AND slot_at > %(settled_at)s - interval '32 days' GROUP BY device) device
WHERE last_at > newest_at - interval '1 day'
HAVING bool_and(slot_at IS NOT NULL);

-- name: note_progress  slots up to a moment are in blocks, or never will be
UPDATE metrics_blockprogress SET blocked_until = %(blocked_until)s
WHERE stream_id = %(stream_id)s AND blocked_until < %(blocked_until)s;

-- name: forget_blocks  blocks that hold somebody of a range
DELETE FROM metrics_block WHERE stream_id = %(stream_id)s AND begins_at < %(to_at)s AND reaches_at > %(from_at)s;

-- name: forget_blocks_of  blocks that hold some slots
DELETE FROM metrics_block block USING unnest(%(slots)s::timestamptz[]) AS erased (slot_at)
WHERE block.stream_id = %(stream_id)s AND block.begins_at <= erased.slot_at AND block.ends_at > erased.slot_at;
