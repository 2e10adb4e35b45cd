"""A service that sees one person in every frame, settles a frame with the next, and says what it is told to."""

import uuid
from typing import Any

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service, parse_timestamp
from onlooker_pipeline.service_call import Call, ComputeError, SkipReason
from onlooker_pipeline.visits.sightings import Estimate, Seen, SeenFrame, Sighting

SERVICE = Service(
    name="passer",
    version=1,
    description="Sees somebody pass.",
    fields=(
        Field("image", FieldKind.MEDIA, "Any bytes."),
        Field("timestamp", FieldKind.TIMESTAMP, "When it was taken."),
        Field("leaves", FieldKind.BOOLEAN, "Whether this frame has nobody any more."),
        Field("skip", FieldKind.BOOLEAN, "Whether not to look at it."),
        Field("fail", FieldKind.BOOLEAN, "Whether to fail after having seen something."),
    ),
    result={"frames": "With a session: frames so far."},
    implementation="extra.passer",
)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    person, before, frames = state or (uuid.uuid4().bytes, [], 0)
    if call.params.get("skip"):
        call.skipped.append(SkipReason.OUT_OF_ORDER)
        return {"frames": frames}, state
    moment = parse_timestamp(call.params["timestamp"])
    assert moment
    sightings = [] if call.params.get("leaves") else [Sighting(person, still=True, looking=False)]
    frame = SeenFrame(round(moment.timestamp() * 1000), sightings)
    settled = [SeenFrame(at_ms, [Sighting(person, still=True, looking=False)]) for at_ms in before]
    ended = [] if sightings else [person]
    call.seen.append(Seen(settled, [frame], {person: Estimate(0.9)}, ended))
    if call.params.get("fail"):
        raise ComputeError("told_to_fail", "It was told to fail.")
    return {"frames": frames + 1}, (person, [frame.at_ms], frames + 1)
