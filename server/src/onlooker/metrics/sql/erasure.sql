-- name: note_erased  from now on nothing that reaches into the range is written; triggers keep to it, too
INSERT INTO visits_erased (stream_id, from_at, to_at) VALUES (%(stream_id)s, %(from_at)s::timestamptz, %(to_at)s::timestamptz);

-- name: erase_visits  some visits that reach into a range, and marks of their slots; returns how many by slot. How far
-- back to look is told by slots and marks: they know how far their visits reach.
WITH since AS MATERIALIZED (
    SELECT least(min(slot_at), %(from_at)s::timestamptz) - interval '24 hours' AS slot_at FROM (
        SELECT slot_at FROM metrics_slot
        WHERE stream_id = %(stream_id)s AND slot_at < %(to_at)s::timestamptz AND reaches_at > %(from_at)s::timestamptz
        UNION ALL
        SELECT slot_at FROM visits_mark
        WHERE stream_id = %(stream_id)s AND slot_at < %(to_at)s::timestamptz AND reaches_at > %(from_at)s::timestamptz) reaching),
chosen AS MATERIALIZED (
    SELECT stream_id, began_at, id FROM visits_visit
    WHERE stream_id = %(stream_id)s AND began_at >= (SELECT slot_at FROM since) AND began_at < %(to_at)s::timestamptz
      AND upper(present) > %(from_at)s::timestamptz
    LIMIT %(limit)s),
erased AS (
    DELETE FROM visits_visit visit USING chosen
    WHERE (visit.stream_id, visit.began_at, visit.id) = (chosen.stream_id, chosen.began_at, chosen.id)
    RETURNING visit.stream_id, visit.began_at, visit.present),
by_slot AS (
    SELECT stream_id, date_bin($slot, began_at, 'epoch') AS slot_at, count(*) AS visits,
           date_bin($slot, max(upper(present)), 'epoch') + $slot AS reaches_at
    FROM erased GROUP BY 1, 2),
marked AS (
    INSERT INTO visits_mark (stream_id, slot_at, reaches_at)
    SELECT stream_id, slot_at, reaches_at FROM by_slot ORDER BY 1, 2
    ON CONFLICT (stream_id, slot_at) DO UPDATE
        SET reaches_at = greatest(visits_mark.reaches_at, excluded.reaches_at))
SELECT slot_at, visits FROM by_slot;

-- name: erase_slots  the totals of slots that are marked: filled again from the visits that stay, or not at all
DELETE FROM metrics_slot WHERE stream_id = %(stream_id)s AND slot_at = ANY(%(slots)s::timestamptz[]);

-- name: erase_totals  totals of visits past retention: of one slot they can't be told apart, so all of it goes
DELETE FROM metrics_slot slot USING visits_kept kept
WHERE kept.stream_id = slot.stream_id AND slot.slot_at < kept.since
  AND slot.stream_id = %(stream_id)s AND slot.slot_at < %(to_at)s::timestamptz AND slot.reaches_at > %(from_at)s::timestamptz;

-- name: erase_quality  how well people could be seen in these slots; hour sums follow by themselves
DELETE FROM streams_quality
WHERE stream_id = %(stream_id)s AND slot_at >= date_bin($slot, %(from_at)s::timestamptz, 'epoch') AND slot_at < %(to_at)s::timestamptz;

-- name: erase_device_quality  the same in what devices told of these slots
UPDATE streams_devicecoverage SET sums = sums - 'quality'
WHERE stream_id = %(stream_id)s AND slot_at >= date_bin($slot, %(from_at)s::timestamptz, 'epoch') AND slot_at < %(to_at)s::timestamptz;

-- name: count_range  how many visits reach into a range, and how many slots of visits past retention
SELECT (SELECT count(*) FROM visits_visit
        WHERE stream_id = %(stream_id)s AND began_at < %(to_at)s::timestamptz AND upper(present) > %(from_at)s::timestamptz),
       (SELECT count(*) FROM metrics_slot slot JOIN visits_kept kept USING (stream_id)
        WHERE slot.stream_id = %(stream_id)s AND slot.slot_at < kept.since AND slot.slot_at < %(to_at)s::timestamptz
          AND slot.reaches_at > %(from_at)s::timestamptz);
