-- name: take_marks  some slots that wait to be filled, oldest marks first; `kept` is false where visits are deleted already
DELETE FROM visits_mark mark USING (
    SELECT stream_id, slot_at FROM visits_mark
    WHERE marked_at <= now() - %(due_s)s * interval '1 second'
    ORDER BY marked_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED) due
WHERE mark.stream_id = due.stream_id AND mark.slot_at = due.slot_at
RETURNING mark.stream_id, mark.slot_at,
    NOT EXISTS (SELECT FROM visits_kept kept
                WHERE kept.stream_id = mark.stream_id AND kept.since > mark.slot_at) AS kept;

-- name: count_marks  how many slots wait; not counted any further where they are very many
SELECT count(*) AS marks FROM (SELECT FROM visits_mark LIMIT 10000) waiting;

-- name: lock_definitions  by which definitions slots are to be filled; they stay so until the transaction ends
SELECT definitions FROM metrics_state FOR SHARE;

-- name: take_over  the definitions of now become those of the roll-up; no row where they are already
UPDATE metrics_state SET senior_age = %(senior_age)s, definitions = %(definitions)s, marked_up_to = 0
WHERE senior_age <> %(senior_age)s::real OR definitions <> %(definitions)s
RETURNING single;

-- name: next_unmarked  a stream whose slots have to be marked; NULL once there is none. Nobody else marks them meanwhile
SELECT (SELECT min(id) FROM streams_stream WHERE id > marked_up_to) AS stream_id
FROM metrics_state WHERE marked_up_to IS NOT NULL FOR UPDATE;

-- name: note_marked  up to this stream all slots are marked; NULL: of all
UPDATE metrics_state SET marked_up_to = %(stream_id)s;

-- name: mark_stream  every slot of a stream whose visits are all there
INSERT INTO visits_mark (stream_id, slot_at, reaches_at)
SELECT stream_id, date_bin('15 minutes', began_at, 'epoch'), max(upper(present))
FROM visits_visit LEFT JOIN visits_kept kept USING (stream_id)
WHERE stream_id = %(stream_id)s AND (kept.since IS NULL OR began_at >= kept.since)
GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (stream_id, slot_at) DO UPDATE SET reaches_at = greatest(visits_mark.reaches_at, excluded.reaches_at);

-- name: find_known_since  from which slot on coverage is swept by nobody yet; it goes an hour after the visits
SELECT coalesce(date_bin('15 minutes', known.since + interval '15 minutes' - interval '1 microsecond', 'epoch'), %(now)s)
       AS since
FROM (SELECT) always
LEFT JOIN (SELECT greatest(%(now)s - retention_days * interval '24 hours', kept.since) - interval '1 hour' AS since
           FROM streams_stream stream LEFT JOIN visits_kept kept ON kept.stream_id = stream.id
           WHERE stream.id = %(stream_id)s) known ON true;

-- name: read_closures  when a stream could not compute, inside a range: before it was created, and by its log of states;
-- a used-up month is over when the month is
WITH stream AS (SELECT created_at FROM streams_stream WHERE id = %(stream_id)s),
logged AS (
    SELECT state, at,
           least(lead(at) OVER (ORDER BY id),
                 CASE WHEN state = 'quota'
                      THEN (date_trunc('month', at AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC'
                      ELSE 'infinity' END) AS until_at
    FROM streams_statechange WHERE stream_id = %(stream_id)s),
closure AS (
    SELECT 'not_created' AS state, '-infinity' AS at, created_at AS until_at FROM stream
    UNION ALL
    SELECT state, greatest(at, created_at), until_at FROM logged, stream WHERE state <> 'enabled')
SELECT state, greatest(at, %(from_at)s) AS from_at, least(until_at, %(to_at)s) AS to_at
FROM closure
WHERE at < %(to_at)s AND until_at > %(from_at)s AND at < until_at
ORDER BY at;

-- name: read_coverage  what was computed and what refused between cuts that follow one another, added up by each slot's
-- most frequent reason. A slot that is cut counts by proportion; the one of now is as long as it has lasted. Most slots
-- are neither cut nor refused: they are added up in the first half.
WITH given AS MATERIALIZED (
    SELECT ARRAY(SELECT to_timestamp(unnest(%(cuts_s)s::float8[]))) AS cuts),
refusal AS MATERIALIZED (
    SELECT DISTINCT ON (slot_at) slot_at, reason FROM streams_refusal
    WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - interval '15 minutes' AND slot_at < %(to_at)s
      AND reason <> ALL(%(told_by_state)s)
    ORDER BY slot_at, frames DESC, reason),
special AS MATERIALIZED (
    SELECT slot_at, reason FROM refusal
    FULL JOIN (SELECT to_timestamp(unnest(%(cut_slots_s)s::float8[])) AS slot_at) cut USING (slot_at))
SELECT width_bucket(slot_at, (SELECT cuts FROM given)) AS number, NULL AS reason, 900::float8 * count(*) AS length_s,
       sum(least(video_s, 900)) AS covered_s
FROM streams_coverage
WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - interval '15 minutes' AND slot_at < %(to_at)s
  AND slot_at NOT IN (SELECT slot_at FROM special)
GROUP BY 1
UNION ALL
SELECT number, reason, sum(length_s), sum(least(coalesce(video_s, 0), slot_s) * length_s / slot_s)
FROM given
CROSS JOIN special
LEFT JOIN streams_coverage coverage ON coverage.stream_id = %(stream_id)s AND coverage.slot_at = special.slot_at
CROSS JOIN LATERAL generate_series(
    greatest(1, width_bucket(special.slot_at, cuts)),
    least(width_bucket(special.slot_at + interval '14 minutes 59.999999 seconds', cuts), cardinality(cuts) - 1)) number
CROSS JOIN LATERAL (
    SELECT least(900, date_part('epoch', %(now)s - special.slot_at)) AS slot_s,
           date_part('epoch', least(special.slot_at + interval '15 minutes', cuts[number + 1])
                              - greatest(special.slot_at, cuts[number])) AS length_s) part
WHERE reason IS NOT NULL OR video_s IS NOT NULL
GROUP BY 1, 2;

-- name: read_in_view  how many open visits were written lately, by the database's clock, and how many of them look;
-- cameras have clocks of their own
SELECT count(*) AS people, count(*) FILTER (WHERE upper(looking) >= upper(present) - interval '1 second') AS looking
FROM visits_visit
WHERE stream_id = %(stream_id)s AND NOT ended AND written_at > now() - %(within_s)s * interval '1 second';
