"""The interface document's request to the data endpoint, and the whole answer that it must get."""

import json
import uuid
from typing import Any

from onlooker.testing.worlds.clocks import unix_s
from onlooker.testing.worlds.playing import Player
from onlooker.visits.visit import Visit
from onlooker.visits.writing import VisitWriter

METRICS = "interested,passing_by,stop_time,attention_time,category,gender,satisfaction,age,emotion"
REQUEST = (
    f"metrics={METRICS}&from_date=2026-01-13T00%3A00%3A00%2B0100&to_date=2026-01-15T00%3A00%3A00%2B01%3A00&time=by_day"
)
NOBODY: dict[str, Any] = {
    "interested": {"value": 0},
    "passing_by": {"value": 0},
    "stop_time": {"value": None},
    "attention_time": {"value": None},
    "category": {"senior_female": 0, "senior_male": 0, "young_female": 0, "young_male": 0},
    "gender": {"?": 0, "female": 0, "male": 0},
    "satisfaction": {"value": None},
    "age": {"0-14": 0, "15-24": 0, "25-34": 0, "35-44": 0, "45-54": 0, "55-64": 0, "65+": 0, "?": 0},
    "emotion": {"neutral": 0, "happiness": 0, "surprise": 0, "anger": 0, "sadness": 0, "?": 0},
}
SOMEBODY: dict[str, Any] = {
    "interested": {"value": 3},
    "passing_by": {"value": 4},
    "stop_time": {"value": 6.0},
    "attention_time": {"value": 3.0},
    "category": {"senior_female": 1, "senior_male": 0, "young_female": 0, "young_male": 1},
    "gender": {"?": 1, "female": 1, "male": 1},
    "satisfaction": {"value": 0.5625},
    "age": {"0-14": 0, "15-24": 0, "25-34": 1, "35-44": 0, "45-54": 0, "55-64": 0, "65+": 1, "?": 1},
    "emotion": {"neutral": 1, "happiness": 1, "surprise": 0, "anger": 0, "sadness": 0, "?": 1},
}
ANSWER = {
    "entities": {"2026-01-13T00:00:00+01:00": NOBODY, "2026-01-14T00:00:00+01:00": SOMEBODY},
    "time": "by_day",
    "from_date": "2026-01-13T00:00:00+01:00",
    "to_date": "2026-01-15T00:00:00+01:00",
    "total_results": 2,
    "nb_of_pages": 1,
    "page": 1,
    "next_page": "",
}


async def wrong_fields(player: Player) -> list[str]:
    """What differs, before the roll-up is filled and after; the order counts, too."""
    (stream,) = await player.reader.make_streams(["Europe/Paris"])
    await VisitWriter(player.reader.pool, player.partitions).write(_visits(stream.id))
    answers = [await player.reader.get(stream, REQUEST)]
    await player.fill(1000)
    answers.append(await player.reader.get(stream, REQUEST))
    return [line for answer in answers for line in _differing(answer)]


def _differing(answer: dict[str, Any]) -> list[str]:
    if list(answer) != list(ANSWER):
        return [f"the members are {list(answer)}"]
    return [f"{name}: {answer[name]}" for name in ANSWER if json.dumps(answer[name]) != json.dumps(ANSWER[name])]


def _visits(stream_id: int) -> list[Visit]:
    """A lady who is happy, a young man who is neither, somebody who is not known, and one who goes by."""
    happy, neutral = (0.25, 0.5, 0.0, 0.25, 0.0), (0.5, 0.25, 0.0, 0.125, 0.125)
    return [
        _visit(stream_id, still_s=9, looking_s=5, age=70.0, gender="female", gender_confidence=0.9, expression=happy),
        _visit(stream_id, still_s=6, looking_s=2, age=30.0, gender="male", gender_confidence=0.9, expression=neutral),
        _visit(stream_id, still_s=3, looking_s=2),
        _visit(stream_id, still_s=0, looking_s=1),
    ]


def _visit(stream_id: int, *, still_s: int, looking_s: int, **person: Any) -> Visit:
    began_ms = 1000 * unix_s("2026-01-14T10:07:30")
    return Visit(
        id=uuid.uuid4().bytes,
        stream_id=stream_id,
        session="interface",
        revision=1,
        ended=True,
        present=[(began_ms, began_ms + 10_000)],
        still=[(began_ms, began_ms + 1000 * still_s)] if still_s else [],
        looking=[(began_ms, began_ms + 1000 * looking_s)],
        **person,
    )
