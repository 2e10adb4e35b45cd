"""Pictures as a camera sends them: grey JPEG of quality 80, fitted into 640 x 480."""

from typing import Any

import cv2
import numpy as np

FRAME_WIDTH, FRAME_HEIGHT = 640, 480
BACKDROP = 90


def fit(picture: Any) -> Any:
    """The picture as large as it fits, in the middle of a grey frame."""
    height, width = picture.shape[:2]
    scale = min(FRAME_WIDTH / width, FRAME_HEIGHT / height)
    size = round(width * scale), round(height * scale)
    resized = cv2.resize(picture, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    frame = np.full((FRAME_HEIGHT, FRAME_WIDTH, *picture.shape[2:]), BACKDROP, np.uint8)
    top, left = (FRAME_HEIGHT - size[1]) // 2, (FRAME_WIDTH - size[0]) // 2
    frame[top : top + size[1], left : left + size[0]] = resized
    return frame


def as_sent(picture: Any, *, quality: int = 80) -> bytes:
    """Grey JPEG."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return bytes(cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, quality])[1])


def as_frame(picture: Any) -> bytes:
    return as_sent(fit(picture))
