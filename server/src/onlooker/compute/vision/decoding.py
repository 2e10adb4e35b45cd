"""From the bytes a stranger sent to pixels, within bounds that are checked before anything is decoded."""

from typing import Any, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from onlooker.compute.call import ComputeError
from onlooker.compute.vision.headers import bad_image, check_file

Picture: TypeAlias = NDArray[np.uint8]
"""Rows of grey values, or of blue, green, red; as OpenCV has it."""

PIXEL_LIMIT = 20_000_000
SIDE_LIMIT = 1_000_000
"""What libpng takes."""

# OpenCV's threads would compete with the worker's; its log would repeat what strangers send.
cv2.setNumThreads(1)
cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)


def decode_picture(data: bytes) -> Picture:
    """The picture in a JPEG or PNG file, turned upright if the file says how; grey stays grey."""
    checked = check_file(data)
    width, height = checked.width, checked.height
    if width * height > PIXEL_LIMIT or max(width, height) > SIDE_LIMIT:
        raise ComputeError(
            "image_too_large",
            f"The image has {width} x {height} pixels. At most {PIXEL_LIMIT // 10**6} megapixels are taken, and no "
            f"side longer than {SIDE_LIMIT:,} pixels: send a smaller one.",
        )
    try:
        decoded: Any = cv2.imdecode(np.frombuffer(checked.data, np.uint8), cv2.IMREAD_ANYCOLOR)
    except cv2.error:
        decoded = None
    if decoded is None:
        raise bad_image("is damaged and can't be decoded")
    return as_picture(decoded)


def resized(picture: Picture, scale: float) -> Picture:
    """The picture larger or smaller; made smaller, each pixel is the mean of those it stands for."""
    method = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    size = max(round(picture.shape[1] * scale), 1), max(round(picture.shape[0] * scale), 1)
    return as_picture(cv2.resize(picture, size, interpolation=method))


def as_grey(picture: Picture) -> Picture:
    return picture if picture.ndim == 2 else as_picture(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))


def as_picture(pixels: Any) -> Picture:
    """OpenCV's stubs do not say that pixels in are pixels out."""
    picture: Picture = pixels
    return picture
