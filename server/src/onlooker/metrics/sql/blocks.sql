-- name: read_block_slots  what the visits of each slot of a range tell about people, each judged whole; `settled` where all
-- have ended, or the slot ended long ago. The reach is that of interested people, in whole slots.
SELECT slot_at, bool_and(ended OR slot_at + $slot <= %(long_ago)s) AS settled,
       date_bin($slot, max(upper(present)) FILTER (WHERE interested) + $slot - interval '1 microsecond', 'epoch') AS reaches_at,
       $figures
FROM ($judged_visits) judged GROUP BY slot_at ORDER BY slot_at;

-- name: visits_of_range  part of read_block_slots: a stream's visits of some slots
SELECT date_bin($slot, began_at, 'epoch') AS slot_at, false AS grouped, visits_visit.* FROM visits_visit
WHERE stream_id = %(stream_id)s AND began_at >= %(from_at)s AND began_at < %(to_at)s

-- name: insert_block  keep what at least so many people add up to
INSERT INTO metrics_block (stream_id, begins_at, ends_at, reaches_at, $columns)
VALUES (%(stream_id)s, %(begins_at)s, %(ends_at)s, %(reaches_at)s, $figures);

-- name: read_blocks  the blocks inside a range, one by one
SELECT extract(epoch FROM begins_at)::bigint, extract(epoch FROM ends_at)::bigint, $figures FROM metrics_block
WHERE stream_id = %(stream_id)s AND begins_at >= %(from_at)s AND begins_at < %(to_at)s AND reaches_at <= %(to_at)s
ORDER BY begins_at;
