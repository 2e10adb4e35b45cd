-- name: take_marks  take some slots that wait to be filled, oldest marks first; of streams on the grid, those marked
-- before a full minute, so that the moment of a change says nothing finer. `kept` is false where the visits are deleted
-- already.
DELETE FROM visits_mark mark USING (
    SELECT stream_id, slot_at FROM visits_mark
    WHERE marked_at <= greatest(now() - %(due_s)s * interval '1 second', to_timestamp(%(grid_s)s))
      AND CASE WHEN EXISTS (SELECT FROM streams_stream stream WHERE stream.id = stream_id AND grid)
               THEN marked_at < to_timestamp(%(grid_s)s)
               ELSE marked_at <= now() - %(due_s)s * interval '1 second' END
    ORDER BY marked_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) due
WHERE mark.stream_id = due.stream_id AND mark.slot_at = due.slot_at
RETURNING mark.stream_id, mark.slot_at,
    NOT EXISTS (SELECT FROM visits_kept kept
                WHERE kept.stream_id = mark.stream_id AND kept.since > mark.slot_at) AS kept;

-- name: count_marks  how many slots wait to be filled; counting stops at 10,000
SELECT count(*) AS marks FROM (SELECT FROM visits_mark LIMIT 10000) waiting;

-- name: lock_definitions  the definitions that slots are filled by, locked until the transaction ends
SELECT definitions FROM metrics_state FOR SHARE;

-- name: take_over  make these definitions those of the roll-up; no row if they are already
UPDATE metrics_state SET senior_age = %(senior_age)s, definitions = %(definitions)s, marked_up_to = 0
WHERE senior_age <> %(senior_age)s::real OR definitions <> %(definitions)s
RETURNING single;

-- name: next_unmarked  the next stream whose slots must be marked; NULL once there is none. Locks the state, so that one
-- process marks at a time.
SELECT (SELECT min(id) FROM streams_stream WHERE id > marked_up_to) AS stream_id
FROM metrics_state WHERE marked_up_to IS NOT NULL FOR UPDATE;

-- name: note_marked  all slots up to this stream are marked; NULL: all slots of all streams are
UPDATE metrics_state SET marked_up_to = %(stream_id)s;

-- name: mark_stream  mark every slot of a stream whose visits are all there
INSERT INTO visits_mark (stream_id, slot_at, reaches_at)
SELECT stream_id, date_bin($slot, began_at, 'epoch'), max(upper(present))
FROM visits_visit LEFT JOIN visits_kept kept USING (stream_id)
WHERE stream_id = %(stream_id)s AND (kept.since IS NULL OR began_at >= kept.since)
GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (stream_id, slot_at) DO UPDATE SET reaches_at = greatest(visits_mark.reaches_at, excluded.reaches_at);
