-- name: fill_slots  fill some slots from their visits, each judged whole
INSERT INTO metrics_slot (stream_id, slot_at, reaches_at, $columns)
SELECT stream_id, slot_at, max(upper(present)), $figures FROM ($judged_visits) judged
GROUP BY stream_id, slot_at ORDER BY stream_id, slot_at
ON CONFLICT (stream_id, slot_at) DO UPDATE SET reaches_at = excluded.reaches_at, $updates

-- name: visits_of_slots  part of fill_slots: the visits that begin in these slots
SELECT taken.slot_at, taken.slot_at < stream.grouped_until AS grouped, visit.*
FROM unnest(%(stream_ids)s::bigint[], %(slots)s::timestamptz[]) AS taken (stream_id, slot_at)
JOIN streams_stream stream ON stream.id = taken.stream_id
CROSS JOIN LATERAL (
    SELECT * FROM visits_visit
    WHERE stream_id = taken.stream_id
      AND began_at >= taken.slot_at AND began_at < taken.slot_at + $slot
    OFFSET 0) visit
