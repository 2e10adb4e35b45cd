-- The statement for one page of numbers that are broken down or filtered: all its visits, judged over the range. Values
-- such as $stream_id become numbered parameters.

-- name: cells  rows of a bucket's number, a cell's number and the figures; or one row that says why there are none
WITH stream AS MATERIALIZED (
    SELECT grid, grouped_until, since FROM streams_stream LEFT JOIN visits_kept kept ON kept.stream_id = id
    WHERE id = $stream_id),
earlier AS MATERIALIZED (
    SELECT slot_at FROM (VALUES ($from_at::timestamptz, $from_at, $window_from)) AS ends (at, before, beyond)
    CROSS JOIN LATERAL ($slots_across) across
    UNION
    SELECT slot_at FROM visits_mark
    WHERE stream_id = $stream_id AND slot_at < $from_at AND reaches_at > $window_from
      AND slot_at < (SELECT since FROM stream) IS NOT TRUE),
refusal AS MATERIALIZED (
    SELECT reason, extract(epoch FROM CASE reason WHEN $groups THEN nullif(grouped_until, 'infinity') WHEN $deleted THEN since END)::bigint AS until_s
    FROM (SELECT CASE WHEN (SELECT grid FROM stream) IS NOT FALSE THEN $grid
                      WHEN (SELECT grouped_until FROM stream) > $from_at
                          OR EXISTS (SELECT FROM ($visits_from_before) visit
                                     WHERE grouped AND upper(present) > $window_from) THEN $groups
                      WHEN (SELECT since FROM stream) > $from_at THEN $deleted
                      WHEN $most_visits < (SELECT sum(passing_by) FROM metrics_slot
                                           WHERE stream_id = $stream_id
                                             AND slot_at > $window_from - $slot AND slot_at < $window_to) THEN $too_many
                 END AS reason) told
    LEFT JOIN stream ON true
    WHERE reason IS NOT NULL)
SELECT number, cell, $figures
FROM (SELECT judged.*, width_bucket(date_part('epoch', begins_at), $edges_s::float8[]) AS number, $cell AS cell
      FROM (SELECT judged.*,
                   floor(date_part('epoch', begins_at))::bigint + $week_s + ($offsets_s::bigint[])[
                       width_bucket(date_part('epoch', begins_at), $changes_s::float8[])] AS local_s
            FROM ($judged_visits) judged
            WHERE begins_at >= $window_from AND begins_at < $window_to
              AND NOT EXISTS (SELECT FROM refusal)$only_interested) judged
      $filters) judged
GROUP BY 1, 2
UNION ALL
SELECT $note, reason, until_s $no_more_figures FROM refusal
UNION ALL
SELECT $note, $inexact, NULL $no_more_figures
WHERE EXISTS (SELECT FROM earlier WHERE slot_at < (SELECT since FROM stream))

-- name: visits_of_page  part of cells: visits that begin on the page, and those from before the range that reach into it.
-- None of them is told about in groups: then there are no figures at all.
SELECT false AS grouped, visit.* FROM visits_visit visit
WHERE stream_id = $stream_id AND began_at >= $window_from AND began_at < $window_to
UNION ALL
$visits_from_before

-- name: visits_from_before  part of both: visits of the slots that reach into the page from before the range
SELECT earlier.slot_at < (SELECT grouped_until FROM stream) AS grouped, visit.* FROM earlier CROSS JOIN LATERAL (
    SELECT * FROM visits_visit
    WHERE stream_id = $stream_id
      AND began_at >= earlier.slot_at AND began_at < earlier.slot_at + $slot AND began_at < $from_at
    OFFSET 0) visit

-- name: only_interested  part of cells: of metrics that nobody else counts in. No stop is longer than the time from the first
-- to the last one, and nobody looks for longer, so that few visits are judged.
AND upper(judged.still) - lower(judged.still) >= interval '$shortest_stop_s s'
              AND upper(judged.looking) - lower(judged.looking) > interval '$shortest_look_s s' AND interested
