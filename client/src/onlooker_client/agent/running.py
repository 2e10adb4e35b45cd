"""The agent: one thread grabs, a few send, and this one watches over them until it is told to stop."""

from __future__ import annotations

import time
import uuid
from typing import Any, Callable, NoReturn

from onlooker_client.agent.camera import CameraWatch
from onlooker_client.agent.drops import Drop
from onlooker_client.agent.grabbing import Grabber
from onlooker_client.agent.pace import Pace
from onlooker_client.agent.plan import Plan
from onlooker_client.agent.replacing import replace_process, should_replace
from onlooker_client.agent.sending.bandwidth import Bandwidth
from onlooker_client.agent.sending.holding import in_words
from onlooker_client.agent.sending.lane import Flight, Uplink
from onlooker_client.agent.sending.request import FrameRequest
from onlooker_client.agent.sending.sender import Sender
from onlooker_client.agent.starting import check_server
from onlooker_client.agent.tally import Tally
from onlooker_client.agent.telling import words
from onlooker_client.agent.telling.health import HealthServer
from onlooker_client.agent.telling.journal import Journal
from onlooker_client.agent.telling.reporting import Reporter
from onlooker_client.agent.telling.situation import Awareness
from onlooker_client.agent.waking import Waking
from onlooker_client.client import Client
from onlooker_client.command import exits
from onlooker_client.config import Config
from onlooker_client.encoding import Encoder
from onlooker_client.errors import BadCredentials, ConfigError, OnlookerError
from onlooker_client.preview.opening import Preview
from onlooker_client.scene import count_people
from onlooker_client.sources.lasting import LastingSource
from onlooker_client.sources.opening import Wish
from onlooker_client.version import VERSION

TICK_S = 1.0
GRAB_LIMIT_S = 1.0
IN_FLIGHT_LIMIT_S = 2.0
END_LIMIT_S = 3.0
LOOK_AGAIN_S = 5.0
"""How often credentials that were refused are read anew."""


class Agent:
    """Runs once. `stop` may be called from any thread, and from a signal handler."""

    def __init__(
        self, plan: Plan, read_config: Callable[[], Config], journal: Journal, *, preview: Preview | None = None
    ) -> None:
        self.tally = Tally()
        self._plan = plan
        self._read_config = read_config
        self._journal = journal
        self._preview = preview
        self._config = read_config()
        self._client = Client(config=self._config)
        self._session_id = str(uuid.uuid4())
        self._is_told_to_stop = False
        self._looked_at = float("-inf")
        self._camera = CameraWatch(journal)
        self._awareness = Awareness(self.tally, self._camera)
        self._sender = Sender(self._uplink(), self.tally, self)
        self._pace = Pace(plan.fps, plan.idle_fps)
        wish = Wish(plan.width_px, plan.height_px, plan.fps, plan.is_looped)
        # What can fail comes before what must be closed.
        self._source = LastingSource(plan.source, wish, on_change=self._camera.change)
        self._camera.name = self._source.name
        self._waking = Waking()
        self._grabber = self._make_grabber()
        server = str(self._client.transport.address)
        self._reporter = Reporter(self._awareness, plan, journal, source=self._source.name, server=server)

    def stop(self) -> None:
        self._is_told_to_stop = True
        self._waking.wake()

    def health(self) -> dict[str, Any]:
        """As the health file has it."""
        return self._reporter.health()

    def try_again(self) -> None:
        """Do not wait any longer after a refusal."""
        self._sender.try_again()

    def run(self) -> int:
        """Until it is told to stop or the source ends; the exit code."""
        health = HealthServer(self._plan.health_port, self._reporter.health) if self._plan.health_port else None
        try:
            self._journal.info(
                "start", f"onlooker-agent {VERSION}: {self._source.name} to {self._client.transport.address}"
            )
            check_server(self._client.transport, self._journal)
            self._grabber.start()
            self._reporter.ready()
            self._reporter.tick(time.monotonic())
            while not (self._is_told_to_stop or self._grabber.is_over):
                self._waking.wait(TICK_S)
                self._tick(time.monotonic())
            return self._exit_code()
        finally:
            self._finish()
            if health is not None:
                health.close()

    def answered(self, flight: Flight, *, latency_s: float) -> None:
        """A lane says it."""
        if not self._awareness.answered(flight, latency_s=latency_s):
            return
        self._pace.see_answer(time.monotonic(), people=count_people(flight.answer))
        if self._preview is not None and flight.shown is not None:
            self._preview.show(flight.shown, flight.answer)

    def lost(self, flight: Flight, reason: Drop) -> None:
        """A lane says it."""
        self._awareness.lost(flight, reason)

    def _tick(self, now: float) -> None:
        self._sender.end_overdue(now)
        self._grabber.check(now)
        refused = self._awareness.refused
        if isinstance(refused, BadCredentials):
            if self._awareness.answered_at is None:  # they never were right
                raise ConfigError(in_words(refused))
            self._look_for_credentials(now)
        self._reporter.tick(now)
        if should_replace(self._source.stuck_s):
            self._replace()

    def _replace(self) -> NoReturn:
        self._journal.error("stuck", "The camera's driver is stuck. The agent starts itself anew.")
        self._end_session()
        if self._preview is not None:
            self._preview.close()
        self._journal.close()
        replace_process()

    def _look_for_credentials(self, now: float) -> None:
        """Somebody may have put a new Password into the file."""
        if now - self._looked_at < LOOK_AGAIN_S:
            return
        self._looked_at = now
        try:
            config = self._read_config()
            if config == self._config:
                return
            client = Client(config=config)
        except OnlookerError as error:
            self._journal.warn_once("config", str(error))
            return
        self._client.close()
        self._config, self._client = config, client
        self._reporter.server = str(client.transport.address)
        self._journal.info("credentials", "The configuration has changed; it is used from now on.")
        self._sender.use(self._uplink())

    def _uplink(self) -> Uplink:
        transport = self._client.transport
        return Uplink(transport, FrameRequest(transport, self._session_id, self._plan.fields))

    def _make_grabber(self) -> Grabber:
        plan = self._plan
        return Grabber(
            source=self._source,
            camera=self._camera,
            encoder=Encoder(plan.width_px, plan.height_px, plan.quality, plan.is_grey),
            pace=self._pace,
            bandwidth=Bandwidth(plan.max_kbytes * 1000),
            sender=self._sender,
            tally=self.tally,
            ended=self._waking.wake,
            keeps_pixels=self._preview is not None,
        )

    def _exit_code(self) -> int:
        grabber, counts = self._grabber, self.tally.read()
        if self._is_told_to_stop:
            return exits.OK
        if grabber.failure or not counts.grabbed:
            self._journal.error("source", grabber.failure or f"No picture came from {self._source.name}.")
            return exits.BROKEN if grabber.is_broken else exits.NO_INPUT
        # A video that was played to nobody.
        return exits.OK if counts.answered or counts.in_flight else exits.UNAVAILABLE

    def _finish(self) -> None:
        self._awareness.is_stopping = True
        self._reporter.stopping()
        self._source.close()
        self._grabber.join(GRAB_LIMIT_S)
        self._sender.close(IN_FLIGHT_LIMIT_S)
        self._end_session()
        if self._preview is not None:
            self._preview.close()
        self._client.close()
        self._waking.close()
        self._journal.close()
        self._reporter.close()
        counts = self.tally.read()
        if self._grabber.has_begun:
            lasted_s = time.monotonic() - self._awareness.began_at
            facts = {**counts.__dict__, "adds_up": counts.adds_up}
            self._journal.info("stop", words.summary(counts, lasted_s), counts=facts)

    def _end_session(self) -> None:
        if not self.tally.read().answered:
            return
        path = self._uplink().request.session_path
        transport = self._client.transport
        connection = transport.open_connection()  # one from before may be dead, and there is no time to find out
        try:
            connection.exchange("DELETE", path, transport.headers(None), timeout_s=END_LIMIT_S)
        except OnlookerError as error:
            self._journal.debug("session", f"The session ends by itself in a minute: {error}")
        finally:
            connection.close()
