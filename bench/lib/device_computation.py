"""The computing process of a device, asked one frame after another."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Queue
from typing import Any

from onlooker_client.device.computation import Computation
from onlooker_client.device.compute_options import ComputeOptions
from onlooker_client.device.computed_frame import ComputedFrame

READY_LIMIT_S = 60.0
ANSWER_LIMIT_S = 120.0


class AskedComputation:
    """Frames go in one by one; what it said of each is kept."""

    def __init__(self, options: ComputeOptions) -> None:
        self.frames: list[ComputedFrame] = []
        self._answers: Queue[ComputedFrame] = Queue()
        self.computation = Computation(options, state=None, on_frame=self._answers.put)

    def begin(self, pixels: Any, at_s: float) -> None:
        give_up_at = time.monotonic() + READY_LIMIT_S
        while self.computation.refusal(time.monotonic()):
            if time.monotonic() > give_up_at:
                raise TimeoutError("The computing process takes no frame.")
            time.sleep(0.001)
        self.computation.compute(pixels, at_s)

    def end(self) -> ComputedFrame:
        """What it says of the frame that was begun."""
        frame = self._answers.get(timeout=ANSWER_LIMIT_S)
        if frame.refused:
            raise RuntimeError(f"The computing process refused a frame: {frame.refused}")
        self.frames.append(frame)
        return frame

    def finish(self) -> list[ComputedFrame]:
        """All frames, with those that close the visits at the end."""
        self.frames += self.computation.close(source_ended=True)
        return self.frames


@contextmanager
def running_computation(options: ComputeOptions) -> Iterator[AskedComputation]:
    asked = AskedComputation(options)
    try:
        asked.computation.start()
        yield asked
    finally:
        asked.computation.close()
