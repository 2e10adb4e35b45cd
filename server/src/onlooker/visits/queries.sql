-- name: write_visits  keep the highest revision of each visit and mark its slot; returns how many were written.
-- An existing mark is locked all the same: a filler skips it while we hold it, or we wait for the filler and mark again.
-- So the roll-up misses no visit. It is changed only where its visits reach further, in whole slots: rarely.
-- `shown`: more is known of a visit than its last revision said; only the next revision replaces that, and nobody comes
-- into view by it. `known` leaves out what is past retention, and what reaches into a range that its owner has erased.
WITH given AS (
    SELECT * FROM unnest(
        %(stream_id)s::bigint[], %(began_at)s::timestamptz[], %(id)s::uuid[], %(revision)s::int[],
        %(ended)s::boolean[], %(session)s::text[],
        %(present)s::tstzmultirange[], %(still)s::tstzmultirange[], %(looking)s::tstzmultirange[],
        %(age)s::real[], %(age_confidence)s::real[], %(gender)s::text[], %(gender_confidence)s::real[],
        %(neutral)s::real[], %(happiness)s::real[], %(surprise)s::real[], %(anger)s::real[], %(sadness)s::real[],
        %(confidence)s::real[]) AS given (
            stream_id, began_at, id, revision, ended, session, present, still, looking,
            age, age_confidence, gender, gender_confidence,
            neutral, happiness, surprise, anger, sadness, confidence)),
living AS MATERIALIZED (
    SELECT given.* FROM given JOIN streams_stream stream ON stream.id = given.stream_id AND stream.removed_at IS NULL),
known AS MATERIALIZED (
    SELECT living.* FROM living LEFT JOIN visits_kept kept USING (stream_id)
    WHERE (kept.since IS NULL OR living.began_at >= kept.since)
      AND NOT EXISTS (SELECT FROM visits_erased erased
                      WHERE erased.stream_id = living.stream_id
                        AND living.began_at < erased.to_at AND upper(living.present) > erased.from_at)),
written AS (
    INSERT INTO visits_visit (stream_id, began_at, id, revision, ended, session, present, still, looking,
                              age, age_confidence, gender, gender_confidence,
                              neutral, happiness, surprise, anger, sadness, confidence)
    SELECT * FROM known ORDER BY stream_id, began_at, id
    ON CONFLICT (stream_id, began_at, id) DO UPDATE SET
        revision = excluded.revision, ended = excluded.ended, session = excluded.session,
        present = excluded.present, still = excluded.still, looking = excluded.looking,
        age = excluded.age, age_confidence = excluded.age_confidence,
        gender = excluded.gender, gender_confidence = excluded.gender_confidence,
        neutral = excluded.neutral, happiness = excluded.happiness, surprise = excluded.surprise,
        anger = excluded.anger, sadness = excluded.sadness, confidence = excluded.confidence,
        written_at = CASE WHEN %(shown)s THEN visits_visit.written_at ELSE now() END
    WHERE visits_visit.revision < excluded.revision
       OR (%(shown)s AND visits_visit.revision = excluded.revision AND NOT visits_visit.ended
           AND (visits_visit.present, visits_visit.still, visits_visit.looking)
               IS DISTINCT FROM (excluded.present, excluded.still, excluded.looking))
    RETURNING stream_id, began_at, present),
marked AS (
    INSERT INTO visits_mark (stream_id, slot_at, reaches_at)
    SELECT stream_id, date_bin($slot, began_at, 'epoch'), date_bin($slot, max(upper(present)), 'epoch') + $slot
    FROM written GROUP BY 1, 2 ORDER BY 1, 2
    ON CONFLICT (stream_id, slot_at) DO UPDATE SET reaches_at = excluded.reaches_at
    WHERE visits_mark.reaches_at < excluded.reaches_at)
SELECT (SELECT count(*) FROM living) AS living, (SELECT count(*) FROM known) AS known,
       (SELECT count(*) FROM written) AS written;

-- name: put_aside  keep what can't be written; no row if its stream is gone or being removed
INSERT INTO visits_putaside (stream_id, visit_id, reason, detail, payload, put_aside_at)
SELECT stream.id, %(visit_id)s, %(reason)s, %(detail)s, %(payload)s, now()
FROM (SELECT %(stream_id)s::bigint AS id) wanted
LEFT JOIN streams_stream stream ON stream.id = wanted.id AND stream.removed_at IS NULL
WHERE wanted.id IS NULL OR stream.id IS NOT NULL
RETURNING number;

-- name: silent_sessions  sessions with open visits, none of which was written lately; in random order, so that those
-- still alive do not delay the others
SELECT session FROM visits_visit WHERE NOT ended
GROUP BY session HAVING max(written_at) < now() - %(silent_s)s * interval '1 second'
ORDER BY random() LIMIT %(limit)s;

-- name: quiet_sessions  the same after a shorter while, as long as they are not closed yet, without those that were shown
SELECT session, max(written_at) AS written_at FROM visits_visit WHERE NOT ended
GROUP BY session HAVING max(written_at) < now() - %(quiet_s)s * interval '1 second'
    AND max(written_at) >= now() - %(silent_s)s * interval '1 second'
    AND (session, max(written_at)) NOT IN (
        SELECT * FROM unnest(%(sessions)s::text[], %(written)s::timestamptz[]))
ORDER BY random() LIMIT %(limit)s;

-- name: end_visits  end a session's visits as they are; a higher revision may still come. All open visits are looked
-- through, of whichever session: few are open at a time. Which session it was is forgotten.
UPDATE visits_visit SET ended = true, session = '', written_at = now() WHERE session = %(session)s AND NOT ended;

-- name: lock_partitions  one process at a time creates or drops partitions, until its transaction ends
SELECT pg_advisory_xact_lock(hashtext('visits_visit'));

-- name: list_partitions  the names of all monthly partitions; other tables are not ours
SELECT child.relname AS name FROM pg_inherits
JOIN pg_class child ON child.oid = inhrelid
WHERE inhparent = 'visits_visit'::regclass AND child.relname ~ '^visits_visit_y[0-9]{4,6}m[0-9]{2}$$';

-- name: make_partition  of a month; a function of the tables' owner
SELECT visits_make_partition(%(month)s);

-- name: drop_partition  the same
SELECT visits_drop_partition(%(month)s);

-- name: longest_retention  the most days that any stream keeps its visits
SELECT coalesce(max(retention_days), 0) AS days FROM streams_stream;

-- name: list_retentions  how many days each stream keeps its visits; NULL for one that is being removed: it keeps none
SELECT id, CASE WHEN removed_at IS NULL THEN retention_days END AS retention_days
FROM streams_stream ORDER BY removed_at IS NULL, id;

-- name: forget_expired  a stream's visits before a slot count as gone from now on; no row if there are none, or if
-- their roll-up still has to be filled
INSERT INTO visits_kept (stream_id, since)
SELECT %(stream_id)s, %(limit_at)s
WHERE EXISTS (SELECT FROM visits_visit WHERE stream_id = %(stream_id)s AND began_at < %(limit_at)s)
  AND NOT EXISTS (SELECT FROM visits_mark WHERE stream_id = %(stream_id)s AND slot_at < %(limit_at)s)
ON CONFLICT (stream_id) DO UPDATE SET since = greatest(visits_kept.since, excluded.since)
RETURNING stream_id;

-- name: forget_month  the same for all streams, before a month is dropped as a whole
INSERT INTO visits_kept (stream_id, since)
SELECT id, %(limit_at)s FROM streams_stream
ON CONFLICT (stream_id) DO UPDATE SET since = excluded.since WHERE visits_kept.since < excluded.since;

-- name: has_marks  whether slots before a moment still have to be filled
SELECT EXISTS (SELECT FROM visits_mark LEFT JOIN visits_kept USING (stream_id)
               WHERE slot_at < %(limit_at)s AND (since IS NULL OR slot_at >= since)) AS found;

-- name: delete_expired  some of a stream's visits past its retention
DELETE FROM visits_visit WHERE (stream_id, began_at, id) IN (
    SELECT stream_id, began_at, id FROM visits_visit
    WHERE stream_id = %(stream_id)s AND began_at < %(limit_at)s LIMIT %(limit)s);

-- name: delete_put_aside  what was put aside long ago; of a stream that keeps less, sooner
DELETE FROM visits_putaside aside
WHERE put_aside_at < now() - interval '1 day' * least(
    %(days)s, (SELECT retention_days FROM streams_stream stream WHERE stream.id = aside.stream_id));

-- name: delete_device_slots  some of what devices told of slots past their stream's retention; coverage itself stays
DELETE FROM streams_devicecoverage WHERE id IN (
    SELECT id FROM streams_devicecoverage
    WHERE stream_id = %(stream_id)s AND slot_at < %(limit_at)s LIMIT %(limit)s);

-- name: delete_old_erasures  erased ranges in which visits are refused anyway by now
DELETE FROM visits_erased erased USING visits_kept kept
WHERE kept.stream_id = erased.stream_id AND erased.to_at <= kept.since;
