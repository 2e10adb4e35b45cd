"""Asks, while frames are sent, whether the stream is now to be computed on the device."""

from __future__ import annotations

import random
import threading
import time
from typing import Callable

from onlooker_client.agent.status.log import AgentLog
from onlooker_client.agent.stream_answer import ask_stream
from onlooker_client.device.computation import Computation
from onlooker_client.device.compute_options import DEVICE, ComputeOptions
from onlooker_client.device.stream_settings import StreamSettings
from onlooker_client.errors import ConfigError
from onlooker_client.wire.transport import Transport

ASK_EVERY_S = 600.0
ASK_SOON_S = 60.0
"""After the start, and after a question that had no answer."""
NOW_HERE = "The stream is now computed on this device."


class StreamWatch:
    """To be called every second or so, by one thread; each question has a thread of its own, one at a time."""

    def __init__(
        self,
        transport: Transport,
        compute: ComputeOptions,
        log: AgentLog,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`compute` says how this device would compute."""
        self.stale = ""
        """Why the agent must start again, as a sentence; empty while it must not."""
        self._transport = transport
        self._compute = compute
        self._log = log
        self._clock = clock
        self._is_asking = False
        self._ask_at = clock() + _spread(ASK_SOON_S)

    def use(self, transport: Transport) -> None:
        """Another server, or other credentials."""
        self._transport = transport

    def tick(self, now: float) -> None:
        if self.stale or self._is_asking or now < self._ask_at:
            return
        self._is_asking = True
        threading.Thread(target=self._ask, name="stream", daemon=True).start()

    def _ask(self) -> None:
        pause_s = ASK_SOON_S
        try:
            answer = ask_stream(self._transport)
            if answer.error is None:
                pause_s = ASK_EVERY_S
                if StreamSettings.of(answer.said).compute == DEVICE:
                    self._prepare()
        finally:
            self._ask_at = self._clock() + _spread(pause_s)
            self._is_asking = False

    def _prepare(self) -> None:
        """The computing process must start here first: a device that can't compute would count nothing at all."""
        trial = Computation(self._compute, on_frame=lambda _: None)
        try:
            trial.start()
        except (ConfigError, OSError, ImportError) as error:
            self._log.warn_once(
                "settings", f"The stream is set to be computed on this device. {error} Frames are sent until then."
            )
            return
        trial.close()
        self.stale = NOW_HERE


def _spread(seconds: float) -> float:
    """So that devices that started together do not ask together."""
    return seconds * random.uniform(0.8, 1.0)  # noqa: S311 (no secret)
