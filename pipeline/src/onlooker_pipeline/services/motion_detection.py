"""`motion_detection`: what moved since the session's previous picture, which stays in this worker's memory."""

import math
from dataclasses import dataclass
from typing import Any

from onlooker_pipeline.motion.change import Grey
from onlooker_pipeline.motion.targets import Target, find_targets
from onlooker_pipeline.service_call import Call
from onlooker_pipeline.vision.picture import Picture, as_grey, decode_picture, resized

WORK_PX = 640 * 480
"""The largest picture that is compared and kept."""
HALVED_FROM_PX = 480 * 360
"""From this size on, half the size shows as much motion, with half the noise, at a quarter of the cost."""
LEAST_SIDE_PX = 16
"""Below this, no motion can be seen, and nothing is kept."""


@dataclass(frozen=True)
class KeptPicture:
    """The previous picture, small and grey, and the size it was sent in."""

    size: tuple[int, int]
    grey: Grey


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    picture = decode_picture(call.attachments["image"])
    height, width = picture.shape[:2]
    result: dict[str, Any] = {"input_size": [height, width], "nb_targets": 0, "targets": []}
    if not call.in_session:
        return result, None
    grey = _shrunk_grey(picture)
    if min(grey.shape) < LEAST_SIDE_PX:
        call.memory.clear()
        return result, None
    previous: KeptPicture | None = call.memory.kept
    kept = KeptPicture((height, width), grey)
    call.memory.keep(kept, size_bytes=grey.nbytes)
    if previous is not None and previous.size == kept.size:
        scale = (width / grey.shape[1], height / grey.shape[0])
        result["targets"] = [_described(target, scale) for target in find_targets(previous.grey, grey)]
        result["nb_targets"] = len(result["targets"])
    return result, None


def _shrunk_grey(picture: Picture) -> Grey:
    height, width = picture.shape[:2]
    size_px = height * width
    factor = max(math.sqrt(size_px / WORK_PX), 2.0 if size_px >= HALVED_FROM_PX else 1.0)
    return as_grey(picture if factor == 1 else resized(picture, 1 / factor))


def _described(target: Target, scale: tuple[float, float]) -> dict[str, Any]:
    """In pixels of the original picture; pixel centres are whole numbers at both sizes."""
    (x, y), (vx, vy) = target.position, target.velocity
    position = [round((x + 0.5) * scale[0] - 0.5, 1), round((y + 0.5) * scale[1] - 0.5, 1)]
    velocity = [round(vx * scale[0], 2), round(vy * scale[1], 2)]
    return {"mean_position": position, "mean_velocity": velocity, "confidence": round(target.confidence, 3)}
