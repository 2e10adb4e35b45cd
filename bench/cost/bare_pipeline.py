"""What nobody can do without: a camera's picture, grey, and the pipeline, five times a second. Prints its frames."""

import sys
import time
from datetime import UTC, datetime
from typing import Any

import cv2

from onlooker_pipeline.catalogue import scene_analysis
from onlooker_pipeline.scene_session import SceneSession
from onlooker_pipeline.services.scene_analysis import compute
from onlooker_pipeline.vision.networks import load_networks
from onlooker_pipeline.warm_up import warm_up

FPS = 5.0


def main() -> None:
    load_networks(scene_analysis.SERVICE.models)
    warm_up(scene_analysis.SERVICE, compute)
    session = SceneSession()
    capture: Any = cv2.VideoCapture(sys.argv[1])
    due = time.monotonic()
    made = 0
    while True:
        is_read, pixels = capture.read()
        if not is_read:
            capture.set(cv2.CAP_PROP_POS_FRAMES, 0)
            continue
        grey: Any = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
        session.add_frame(grey, datetime.now(UTC))
        made += 1
        print(made, flush=True)
        due += 1 / FPS
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main()
