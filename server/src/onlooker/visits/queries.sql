-- name: write_visits  the highest revision of each visit stays; says how many streams' visits were known and written
WITH given AS (
    SELECT * FROM json_to_recordset(%(visits)s::json) AS given (
        stream_id bigint, began_at timestamptz, id uuid, revision int, ended boolean, session text,
        present tstzmultirange, still tstzmultirange, looking tstzmultirange,
        age real, age_confidence real, gender text, gender_confidence real,
        neutral real, happiness real, surprise real, anger real, sadness real, confidence real)),
known AS MATERIALIZED (
    SELECT given.* FROM given JOIN streams_stream stream ON stream.id = given.stream_id AND stream.removed_at IS NULL),
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
        anger = excluded.anger, sadness = excluded.sadness, confidence = excluded.confidence, written_at = now()
    WHERE visits_visit.revision < excluded.revision
    RETURNING 1)
SELECT (SELECT count(*) FROM known) AS known, (SELECT count(*) FROM written) AS written;

-- name: put_aside  keep what can't be written; no row when its stream is gone or being removed
INSERT INTO visits_putaside (stream_id, visit_id, reason, detail, payload, put_aside_at)
SELECT stream.id, %(visit_id)s, %(reason)s, %(detail)s, %(payload)s, now()
FROM (SELECT %(stream_id)s::bigint AS id) wanted
LEFT JOIN streams_stream stream ON stream.id = wanted.id AND stream.removed_at IS NULL
WHERE wanted.id IS NULL OR stream.id IS NOT NULL
RETURNING number;

-- name: silent_sessions  sessions with open visits of which none was written lately; in any order, so that those
-- which live on do not keep the others waiting
SELECT session FROM visits_visit WHERE NOT ended
GROUP BY session HAVING max(written_at) < now() - %(silent_s)s * interval '1 second'
ORDER BY random() LIMIT %(limit)s;

-- name: end_visits  nothing more is known of a session's visits; a higher revision may still come
UPDATE visits_visit SET ended = true, written_at = now() WHERE session = %(session)s AND NOT ended;

-- name: lock_partitions  one process at a time makes or drops partitions, until its transaction ends
SELECT pg_advisory_xact_lock(hashtext('visits_visit'));

-- name: list_partitions  the names of all monthly partitions; others are somebody else's
SELECT child.relname AS name FROM pg_inherits
JOIN pg_class child ON child.oid = inhrelid
WHERE inhparent = 'visits_visit'::regclass AND child.relname ~ '^visits_visit_y[0-9]{4,6}m[0-9]{2}$';

-- name: longest_retention  the most days that any stream keeps its visits
SELECT coalesce(max(retention_days), 0) AS days FROM streams_stream;

-- name: list_retentions  how many days each stream keeps its visits; NULL for one that is being removed: it keeps none
SELECT id, CASE WHEN removed_at IS NULL THEN retention_days END AS retention_days
FROM streams_stream ORDER BY removed_at IS NULL, id;

-- name: delete_expired  some of a stream's visits past its retention
DELETE FROM visits_visit WHERE (stream_id, began_at, id) IN (
    SELECT stream_id, began_at, id FROM visits_visit
    WHERE stream_id = %(stream_id)s AND began_at < %(limit_at)s LIMIT %(limit)s);

-- name: delete_put_aside  what was put aside long ago; of a stream that keeps less, sooner
DELETE FROM visits_putaside aside
WHERE put_aside_at < now() - interval '1 day' * least(
    %(days)s, (SELECT retention_days FROM streams_stream stream WHERE stream.id = aside.stream_id));
