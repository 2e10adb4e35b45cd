"""A service that burns a set amount of CPU on an image, for measuring what everything around it costs."""

import time
from typing import Any

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service
from onlooker_pipeline.service_call import Call

SERVICE = Service(
    name="burn",
    version=1,
    description="Burns CPU.",
    fields=(
        Field("image", FieldKind.MEDIA, "Any bytes.", required=True),
        Field("burn_ms", FieldKind.POSITIVE, "Milliseconds of CPU; nothing when absent."),
    ),
    result={"size": "Bytes of the image.", "frames": "Frames of the session so far."},
    implementation="bench.cost.cpu_burner",
)


def burn(milliseconds: float) -> None:
    """Use CPU time of this thread, however long that takes on the clock."""
    until = time.thread_time() + milliseconds / 1000
    while time.thread_time() < until:
        sum(range(200))


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    burn(call.params.get("burn_ms", 0))
    frames = (state or 0) + 1
    return {"size": len(call.attachments["image"]), "frames": frames}, frames
