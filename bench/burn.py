"""A service that burns a set amount of CPU on an image, for measuring what everything around it costs."""

import statistics
import time
from typing import Any

from onlooker.catalogue.service import Field, Kind, Service
from onlooker.compute.call import Call

CALIBRATION_LOOPS = 2000

SERVICE = Service(
    name="burn",
    version=1,
    description="Burns CPU.",
    fields=(
        Field("image", Kind.MEDIA, "Any bytes.", required=True),
        Field("burn_loops", Kind.POSITIVE, "How much to burn; nothing when absent."),
    ),
    result={"size": "Bytes of the image.", "frames": "Frames of the session so far."},
    implementation="bench.burn",
)


def burn(loops: float) -> None:
    """A fixed amount of work, so that a machine that is slow for a while is slow for all alternatives alike."""
    for _ in range(int(loops)):
        sum(range(200))


def loops_for(milliseconds: float) -> int:
    """How many loops take so much CPU time on this machine now: the median of many tries."""
    tries = []
    for _ in range(41):
        started = time.thread_time()
        burn(CALIBRATION_LOOPS)
        tries.append(time.thread_time() - started)
    return round(CALIBRATION_LOOPS * milliseconds / 1000 / statistics.median(tries))


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    burn(call.params.get("burn_loops", 0))
    frames = (state or 0) + 1
    return {"size": len(call.attachments["image"]), "frames": frames}, frames
