-- The parts of the statement for one page of buckets: page and perhaps needed_slots, then days or hours, judged, blocks
-- and note, joined by UNION ALL. Values such as $stream_id become numbered parameters.

-- name: page  the buckets, each as far as it lies inside the range; where they are short, only their edges are used. Edges
-- come as seconds, which are quicker to read than dates, and to find a moment among.
WITH bucket AS MATERIALIZED (
    SELECT number, greatest(to_timestamp(begins_s), $from_at) AS begins_at,
           least(to_timestamp(ends_s), $to_at) AS ends_at
    FROM unnest(($edges_s::float8[])[:$buckets], ($edges_s::float8[])[2:])
        WITH ORDINALITY AS given (begins_s, ends_s, number))

-- name: needed_slots  the slots whose visits have to be read (`raw`): those inside which an edge lies, and those with visits
-- across an end or with a mark, as far as they matter in these buckets
, raw AS MATERIALIZED (
    SELECT slot_at, slot_at < (SELECT since FROM visits_kept WHERE stream_id = $stream_id) IS TRUE AS gone
    FROM (SELECT slot_at FROM metrics_slot
          WHERE stream_id = $stream_id
            AND slot_at = ANY (ARRAY(SELECT to_timestamp(unnest($cut_slots_s::bigint[]))))
          UNION ALL
          $across_ends) cut
    UNION
    $marked)

-- name: across_ends  part of needed_slots and unanswered: slots with visits across an end of the range
SELECT slot_at
FROM (VALUES ($from_at::timestamptz, $from_at, $window_from), ($to_at, $window_to, $to_at))
    AS ends (at, before, beyond)
CROSS JOIN LATERAL ($slots_across) crossing

-- name: marked  part of needed_slots and unanswered: slots that wait to be filled
SELECT slot_at, false FROM visits_mark
WHERE stream_id = $stream_id AND slot_at < $window_to
  AND slot_at < (SELECT since FROM visits_kept WHERE stream_id = $stream_id) IS NOT TRUE
  AND (slot_at > $window_from - $slot
       OR (slot_at < $from_at AND reaches_at > $window_from))

-- name: slots_across  part of across_ends: slots that begin before one of the `ends` (at, before, beyond), and have visits
-- that reach beyond it. Visits that reach far are found in a small index.
SELECT slot_at FROM metrics_slot
WHERE stream_id = $stream_id AND slot_at >= ends.at - interval '30 minutes' AND slot_at < ends.before
  AND reaches_at > ends.beyond
UNION ALL
SELECT slot_at FROM (VALUES (1, interval '4 hours'), (2, '32 hours'), (3, '256 hours'), (4, '1000 years'))
    AS reach (far, at_most)
CROSS JOIN LATERAL (
    SELECT slot_at FROM metrics_slot
    WHERE stream_id = $stream_id AND far > 0 AND far = reach.far
      AND slot_at < ends.before AND slot_at > ends.beyond - reach.at_most
      AND reaches_at > ends.beyond) reaching
WHERE (SELECT EXISTS (SELECT FROM metrics_slot WHERE stream_id = $stream_id AND far > 0))

-- name: days  the roll-up by bucket, one bucket after another: cheaper than grouping, since a day's slots follow one
-- another in the index
SELECT number, $asked
FROM bucket CROSS JOIN LATERAL (
    SELECT $whole FROM metrics_slot
    WHERE stream_id = $stream_id AND slot_at >= bucket.begins_at AND slot_at < bucket.ends_at
      $except_raw
    HAVING count(*) > 0) whole
$if_singly

-- name: days_in_groups  the same where all slots are grouped: their rows tell how many people there are, and blocks the rest
SELECT number, $asked_of_counts
FROM bucket CROSS JOIN LATERAL (
    SELECT $counts FROM metrics_slot
    WHERE stream_id = $stream_id AND slot_at >= bucket.begins_at AND slot_at < bucket.ends_at
      $except_raw
    HAVING count(*) > 0) whole
WHERE $is_grouped

-- name: hours  the roll-up by hour or quarter hour, grouped: there are four slots at most, so this is the cheaper way
SELECT width_bucket(date_part('epoch', slot_at), $edges_s::float8[]) AS number, $summed
FROM metrics_slot
WHERE stream_id = $stream_id AND slot_at >= $window_from AND slot_at < $window_to
  $except_raw $and_singly
GROUP BY 1

-- name: hours_in_groups  the same where all slots are grouped
SELECT number, $asked_of_counts
FROM (SELECT width_bucket(date_part('epoch', slot_at), $edges_s::float8[]) AS number, $counts
      FROM metrics_slot
      WHERE stream_id = $stream_id AND slot_at >= $window_from AND slot_at < $window_to
        $except_raw AND $is_grouped
      GROUP BY 1) whole

-- name: is_grouped  part of both: whether all slots are told in groups, so that nothing else about people is in their rows
(SELECT grouped_until = 'infinity' FROM streams_stream WHERE id = $stream_id)

-- name: except_raw  part of days and hours: without the slots whose visits are read
AND slot_at NOT IN (SELECT slot_at FROM raw WHERE NOT gone)

-- name: judged  the visits that are read, judged over the range, by bucket
(SELECT width_bucket(date_part('epoch', judged.begins_at), $edges_s::float8[]), $judged
 FROM ($judged_visits) judged
 WHERE judged.begins_at >= $window_from AND judged.begins_at < $window_to
 GROUP BY 1)

-- name: blocks_of_days  what is told about people in groups, one bucket after another: blocks whose slots lie inside the
-- bucket, and whose visits inside the range
SELECT number, $asked_in_blocks
FROM bucket CROSS JOIN LATERAL (
    SELECT $blocks FROM metrics_block
    WHERE stream_id = $stream_id AND begins_at >= bucket.begins_at AND begins_at < bucket.ends_at
      AND ends_at <= bucket.ends_at AND reaches_at <= $to_at
    HAVING count(*) > 0) block
WHERE (SELECT EXISTS (SELECT FROM metrics_block WHERE stream_id = $stream_id))

-- name: blocks_of_hours  the same, one by one: few blocks lie inside an hour, and whoever reads the rows adds them up
SELECT width_bucket(date_part('epoch', begins_at), $edges_s::float8[]), $each_block
FROM metrics_block
WHERE stream_id = $stream_id AND begins_at >= $window_from AND begins_at < $window_to
  AND ends_at <= $window_to AND reaches_at <= $to_at
  AND width_bucket(date_part('epoch', begins_at), $edges_s::float8[])
      = width_bucket(date_part('epoch', ends_at - interval '1 microsecond'), $edges_s::float8[])

-- name: raw_visits  part of judged: the visits of the slots whose visits have to be read, and are there. The end of the
-- window stands by itself, so that partitions after it are not even opened. A stream that is gone counts as grouped.
SELECT raw.slot_at < (SELECT grouped_until FROM streams_stream WHERE id = $stream_id) IS NOT FALSE AS grouped, visit.*
FROM raw CROSS JOIN LATERAL (
    SELECT * FROM visits_visit
    WHERE stream_id = $stream_id
      AND began_at >= raw.slot_at AND began_at < raw.slot_at + $slot AND began_at < $window_to
    OFFSET 0) visit
WHERE NOT gone

-- name: inexact  a row with no figures if visits would have to be read that are deleted
SELECT $note, $no_figures WHERE EXISTS (SELECT FROM raw WHERE gone)

-- name: unanswered  the same if any visits would have to be read: the roll-up alone is not enough. No edge lies inside a
-- slot where this is asked.
SELECT $note, $no_figures WHERE EXISTS ($across_ends) OR EXISTS ($marked)
