"""Sends a camera or a video file to scene_analysis through the SDK, and prints the events."""

import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import cv2

from onlooker_client import Client, ComputationFailed, LinkError, NotNow

FPS = 10


def read_frames(source: str) -> Iterator[tuple[datetime, Any]]:
    """Pictures and when each was taken, ten a second. A video file is dated so that it ends now."""
    is_live = source.isdigit() or "://" in source
    camera = cv2.VideoCapture(int(source) if source.isdigit() else source)
    if not camera.isOpened():
        sys.exit(f"{source} can't be opened. Give the number of a camera, or a video file.")
    length_s = 0.0 if is_live else camera.get(cv2.CAP_PROP_FRAME_COUNT) / (camera.get(cv2.CAP_PROP_FPS) or 25.0)
    start, next_s = datetime.now(UTC) - timedelta(seconds=length_s), 0.0
    began_s = time.monotonic()
    while camera.grab():
        at_s = time.monotonic() - began_s if is_live else camera.get(cv2.CAP_PROP_POS_MSEC) / 1000
        if at_s + 0.5 / FPS >= next_s:
            next_s = max(next_s, at_s - 1 / FPS) + 1 / FPS
            yield start + timedelta(seconds=at_s), camera.retrieve()[1]


def as_small_jpeg(picture: Any) -> bytes:
    """Grey, and no side longer than 640 pixels: the server needs no more."""
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    scale = min(640 / max(grey.shape), 1.0)
    small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()


def watch(source: str) -> None:
    """Address, Login and Password come from the environment, or from the file that `onlooker-agent setup` wrote."""
    people = set[str]()
    with Client() as client, client.service("scene_analysis", 1).session() as session:
        for taken_at, picture in read_frames(source):
            try:
                result = session.process(image=as_small_jpeg(picture), timestamp=taken_at, store=True)
            except (LinkError, NotNow, ComputationFailed) as error:
                print(f"{taken_at:%H:%M:%S} {error}", file=sys.stderr)  # the next frame goes on
                continue
            people |= set(result["entities"])
            for event in result["events"]:
                print(f"{taken_at:%H:%M:%S} {event['type']} {event['entity_id'][:8]} {event['confidence']:.2f}")
    print(f"{len(people)} people seen")


if __name__ == "__main__":
    watch(sys.argv[1] if len(sys.argv) > 1 else "0")
