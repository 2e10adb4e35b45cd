"""OpenCV, which comes with the extra `camera`: imported when the first picture is needed, and told to be quiet."""

from __future__ import annotations

import importlib
import os
from typing import Any

from onlooker_client.errors import SourceError

REMEDY = 'Cameras, videos and pictures need OpenCV. Install it with: pip install "onlooker-client[camera]"'
_SETTINGS = {
    "OPENCV_LOG_LEVEL": "SILENT",
    "OPENCV_FFMPEG_LOGLEVEL": "-8",  # both would print addresses, with the passwords in them
    "OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT": "5",
    "OPENCV_IO_MAX_IMAGE_PIXELS": str(1 << 26),
}
"""OpenCV reads these from the environment only. What somebody set there themselves stays."""
_SILENT = 0


def load_opencv() -> Any:
    """The module `cv2`."""
    for name, value in _SETTINGS.items():
        os.environ.setdefault(name, value)
    try:
        opencv: Any = importlib.import_module("cv2")
    except ImportError:
        raise SourceError(REMEDY) from None
    # Where it was imported before us. The function has another place in version 5.
    set_level = opencv.setLogLevel if hasattr(opencv, "setLogLevel") else opencv.utils.logging.setLogLevel
    set_level(_SILENT)
    return opencv
