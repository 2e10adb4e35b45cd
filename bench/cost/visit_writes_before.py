"""Writing visits as the release before did: JSON, two indexes of open visits, less room on a page, marks rewritten."""

from datetime import datetime, timedelta
from typing import Any

import msgspec

from onlooker.database import Pool
from onlooker_pipeline.expressions import EXPRESSIONS
from onlooker_pipeline.visits.visit import Interval, Visit

SCHEMA = """
CREATE INDEX visits_open ON visits_visit (session) WHERE NOT ended;
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'visits_visit'::regclass LOOP
        EXECUTE format('ALTER TABLE %s SET (fillfactor = 80)', name);
    END LOOP;
END $$
"""
WRITE = """
WITH given AS (
    SELECT * FROM json_to_recordset(%(visits)s::json) AS given (
        stream_id bigint, began_at timestamptz, id uuid, revision int, ended boolean, session text,
        present tstzmultirange, still tstzmultirange, looking tstzmultirange,
        age real, age_confidence real, gender text, gender_confidence real,
        neutral real, happiness real, surprise real, anger real, sadness real, confidence real)),
living AS MATERIALIZED (
    SELECT given.* FROM given JOIN streams_stream stream ON stream.id = given.stream_id AND stream.removed_at IS NULL),
known AS MATERIALIZED (
    SELECT living.* FROM living LEFT JOIN visits_kept kept USING (stream_id)
    WHERE kept.since IS NULL OR living.began_at >= kept.since),
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
    RETURNING stream_id, began_at, present)
INSERT INTO visits_mark (stream_id, slot_at, reaches_at)
SELECT stream_id, date_bin('15 minutes', began_at, 'epoch'), max(upper(present)) FROM written
GROUP BY 1, 2 ORDER BY 1, 2
ON CONFLICT (stream_id, slot_at) DO UPDATE SET
    reaches_at = greatest(visits_mark.reaches_at, excluded.reaches_at)
"""
_EPOCH = datetime(1970, 1, 1)


class WriterBefore:
    """Writes batches of visits like `VisitWriter`, in the old way."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def write(self, visits: list[Visit]) -> list[Any]:
        newest = {visit.id: visit for visit in sorted(visits, key=lambda visit: visit.revision)}
        rows = msgspec.json.encode([row_of(visit) for visit in newest.values()]).decode()
        async with self._pool.connection() as connection:
            await connection.execute(WRITE, {"visits": rows})
        return []


def row_of(visit: Visit) -> dict[str, Any]:
    """The columns of a visit as JSON."""
    return {
        "stream_id": visit.stream_id,
        "began_at": _moment(visit.began_ms),
        "id": visit.id.hex(),
        "revision": visit.revision,
        "ended": visit.ended,
        "session": visit.session,
        "present": _moments(visit.present),
        "still": _moments(visit.still),
        "looking": _moments(visit.looking),
        "age": visit.age,
        "age_confidence": visit.age_confidence,
        "gender": visit.gender,
        "gender_confidence": visit.gender_confidence,
        **dict(zip(EXPRESSIONS, visit.expression or (None,) * 5, strict=True)),
        "confidence": visit.confidence,
    }


def _moments(intervals: list[Interval]) -> str:
    return "{" + ",".join(f"[{_moment(start)},{_moment(end)})" for start, end in intervals) + "}"


def _moment(at_ms: int) -> str:
    return (_EPOCH + timedelta(milliseconds=at_ms)).isoformat(timespec="milliseconds") + "Z"
