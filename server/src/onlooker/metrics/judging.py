"""What a visit counts as, in SQL: judged over a range, or whole."""

from onlooker.metrics.definitions import (
    AGE_BANDS,
    EMOTIONS,
    GENDER_KNOWN_ABOVE,
    SHORTEST_LOOK_S,
    SHORTEST_PRESENCE_S,
    SHORTEST_STOP_S,
)


def judge(visits: str, *, within: str = "") -> str:
    """A query for the judged visits of a query for visits; `within` is a multirange to which they are cut."""
    clip = f" * {within}" if within else ""
    return f"""
    SELECT visit.*, senior_age, begins_at,
           present_for >= interval '{SHORTEST_PRESENCE_S} s' AS passing_by,
           longest_stop >= interval '{SHORTEST_STOP_S} s'
               AND looking_for > interval '{SHORTEST_LOOK_S} s' AS interested,
           still_for, looking_for,
           CASE WHEN gender_confidence > {GENDER_KNOWN_ABOVE} THEN gender END AS known_gender,
           {_most(EMOTIONS)} AS known_emotion,
           width_bucket(age::float8, ARRAY{list(AGE_BANDS.values())}::float8[]) AS band
    FROM ({visits}) visit
    CROSS JOIN metrics_state
    CROSS JOIN LATERAL (SELECT min(lower(part)) AS begins_at, sum(upper(part) - lower(part)) AS present_for
                        FROM unnest(visit.present{clip}) part) presence
    CROSS JOIN LATERAL (SELECT sum(upper(part) - lower(part)) AS still_for,
                               max(upper(part) - lower(part)) AS longest_stop
                        FROM unnest(visit.still{clip}) part) stops
    CROSS JOIN LATERAL (SELECT sum(upper(part) - lower(part)) AS looking_for
                        FROM unnest(visit.looking{clip}) part) looks
    WHERE begins_at IS NOT NULL"""  # noqa: S608 - made of constants


def _most(columns: tuple[str, ...]) -> str:
    """The name of the largest of some columns, the first of several; NULL where they are."""
    cases = []
    for index, column in enumerate(columns[:-1]):
        cases.append(f"WHEN {column} >= greatest({', '.join(columns[index + 1 :])}) THEN '{column}'")
    return f"CASE WHEN {columns[0]} IS NULL THEN NULL {' '.join(cases)} ELSE '{columns[-1]}' END"
