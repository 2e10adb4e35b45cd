"""A service whose frames become visits as far as the gateway knows; it says who sent them, and fails as it is told."""

import time
from typing import Any

import msgspec

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service
from onlooker_pipeline.service_call import Call, ComputeError, PictureFault

SERVICE = Service(
    name="watch",
    version=1,
    description="Watches.",
    fields=(
        Field("image", FieldKind.MEDIA, "Any bytes.", required=True),
        Field("timestamp", FieldKind.TIMESTAMP, "When it was taken."),
        Field("store", FieldKind.BOOLEAN, "Whether it is kept."),
        Field("fail", FieldKind.TEXT, "The code to fail with."),
        Field("blind", FieldKind.TEXT, "Why the camera sees nothing."),
        Field("skip", FieldKind.TEXT, "Why not to look at it."),
        Field("sleep_s", FieldKind.POSITIVE, "How long to sleep."),
    ),
    result={"sender": "What it knows of the stream.", "arrived_at": "When the frame arrived."},
    implementation="extra.watch",
    makes_visits=True,
)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    time.sleep(call.params.get("sleep_s", 0))
    if code := call.params.get("fail"):
        raise ComputeError(code, "It was told to fail.")
    if reason := call.params.get("skip"):
        call.skipped.append(reason)
    if fault := call.params.get("blind"):
        call.blind.append(PictureFault(fault))
    return {"sender": msgspec.structs.asdict(call.sender), "arrived_at": call.arrived_at}, state
