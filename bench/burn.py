"""A service that burns a set amount of CPU on an image, for measuring what everything around it costs."""

import time
from typing import Any

from onlooker.catalogue.service import Field, Kind, Service
from onlooker.compute.call import Call

SERVICE = Service(
    name="burn",
    version=1,
    description="Burns CPU.",
    fields=(
        Field("image", Kind.MEDIA, "Any bytes.", required=True),
        Field("burn_ms", Kind.POSITIVE, "Milliseconds of CPU; nothing when absent."),
    ),
    result={"size": "Bytes of the image.", "frames": "Frames of the session so far."},
    implementation="bench.burn",
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
