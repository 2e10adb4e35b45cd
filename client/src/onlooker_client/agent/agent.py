"""The agent: one thread captures, a few send, and the main thread supervises them until it is told to stop."""

from __future__ import annotations

import time
import uuid
from typing import Any, Callable, NoReturn

from onlooker_client.agent.capture.grabber import Grabber
from onlooker_client.agent.capture.pace import Pace
from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.process import WakeUp, replace_process, should_replace
from onlooker_client.agent.sending.backoff import ASKS_AGAIN, SWITCHED_OFF, explain_refusal, used_up
from onlooker_client.agent.sending.channel import FrameRequest, PendingFrame, Uplink
from onlooker_client.agent.sending.link import Bandwidth
from onlooker_client.agent.sending.sender import Sender
from onlooker_client.agent.status.condition import ConditionReporter
from onlooker_client.agent.status.health import HealthServer
from onlooker_client.agent.status.log import AgentLog, format_summary
from onlooker_client.agent.status.reporter import Reporter
from onlooker_client.agent.status.state import CameraMonitor, StatusTracker
from onlooker_client.client import Client
from onlooker_client.command import exit_codes
from onlooker_client.config import Config
from onlooker_client.errors import BadCredentials, BadRequest, ConfigError, LinkError, NotNow, OnlookerError, Refused
from onlooker_client.jpeg import JpegEncoder
from onlooker_client.preview.output import Preview
from onlooker_client.scene import count_people
from onlooker_client.sources.opener import SourceOptions
from onlooker_client.sources.reconnection import ReconnectingSource
from onlooker_client.version import VERSION
from onlooker_client.wire.transport import Repeat, Transport

TICK_S = 1.0
GRAB_LIMIT_S = 1.0
IN_FLIGHT_LIMIT_S = 2.0
END_LIMIT_S = 3.0
LOOK_AGAIN_S = 5.0
"""How often rejected credentials are read again."""
LIMIT_S = 5.0


class Agent:
    """Runs once. `stop` may be called from any thread, and from a signal handler."""

    def __init__(
        self,
        options: AgentOptions,
        read_config: Callable[[], Config],
        log: AgentLog,
        *,
        preview: Preview | None = None,
    ) -> None:
        self.tally = Tally()
        self._options = options
        self._read_config = read_config
        self._log = log
        self._preview = preview
        self._config = read_config()
        self._client = Client(config=self._config)
        self._session_id = str(uuid.uuid4())
        self._is_told_to_stop = False
        self._looked_at = float("-inf")
        self._camera = CameraMonitor(log)
        self._tracker = StatusTracker(self.tally, self._camera)
        self._condition = ConditionReporter(self._client.transport, self._tracker)
        self._sender = Sender(self._uplink(), self.tally, self)
        self._pace = Pace(options.fps, options.idle_fps)
        wanted = SourceOptions(options.width_px, options.height_px, options.fps, options.is_looped)
        # What can fail comes before what must be closed.
        self._source = ReconnectingSource(options.source, wanted, on_change=self._camera.change)
        self._camera.name = self._source.name
        self._wake_up = WakeUp()
        self._grabber = self._make_grabber()
        server = str(self._client.transport.address)
        self._reporter = Reporter(
            self._tracker, options, log, source=self._source.name, server=server, reports=self._condition.counts
        )

    def stop(self) -> None:
        self._is_told_to_stop = True
        self._wake_up.wake()

    def health(self) -> dict[str, Any]:
        """As the health file has it."""
        return self._reporter.health()

    def try_again(self) -> None:
        """Do not wait any longer after a refusal."""
        self._sender.try_again()

    def run(self) -> int:
        """Until it is told to stop or the source ends; the exit code."""
        health = HealthServer(self._options.health_port, self._reporter.health) if self._options.health_port else None
        try:
            self._log.info(
                "start", f"onlooker-agent {VERSION}: {self._source.name} to {self._client.transport.address}"
            )
            check_server(self._client.transport, self._log)
            self._grabber.start()
            self._reporter.ready()
            self._reporter.tick(time.monotonic())
            while not (self._is_told_to_stop or self._grabber.is_over):
                self._wake_up.wait(TICK_S)
                self._tick(time.monotonic())
            return self._exit_code()
        finally:
            self._finish()
            if health is not None:
                health.close()

    def answered(self, frame: PendingFrame, *, latency_s: float) -> None:
        """A channel says it."""
        if not self._tracker.answered(frame, latency_s=latency_s):
            return
        self._pace.see_answer(time.monotonic(), people=count_people(frame.answer))
        if self._preview is not None and frame.shown is not None:
            self._preview.show(frame.shown, frame.answer)

    def lost(self, frame: PendingFrame, reason: Drop) -> None:
        """A channel says it."""
        self._tracker.lost(frame, reason)

    def _tick(self, now: float) -> None:
        self._sender.end_overdue(now)
        self._grabber.check(now)
        refused = self._tracker.refused
        if isinstance(refused, BadCredentials):
            if self._tracker.answered_at is None:  # they never were right
                raise ConfigError(explain_refusal(refused))
            self._look_for_credentials(now)
        self._reporter.tick(now)
        self._condition.tick(now)
        if should_replace(self._source.stuck_s):
            self._replace()

    def _replace(self) -> NoReturn:
        self._log.error("stuck", "The camera's driver is stuck. The agent restarts itself.")
        self._end_session()
        if self._preview is not None:
            self._preview.close()
        self._log.close()
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
            self._log.warn_once("config", str(error))
            return
        self._client.close()
        self._config, self._client = config, client
        self._reporter.server = str(client.transport.address)
        self._log.info("credentials", "The configuration has changed and is now in use.")
        self._sender.use(self._uplink())
        self._condition.use(client.transport)

    def _uplink(self) -> Uplink:
        transport = self._client.transport
        return Uplink(transport, FrameRequest(transport, self._session_id, self._options.fields))

    def _make_grabber(self) -> Grabber:
        options = self._options
        return Grabber(
            source=self._source,
            camera=self._camera,
            encoder=JpegEncoder(options.width_px, options.height_px, options.quality, options.is_grey),
            pace=self._pace,
            bandwidth=Bandwidth(options.max_kbytes * 1000),
            sender=self._sender,
            tally=self.tally,
            ended=self._wake_up.wake,
            keeps_pixels=self._preview is not None,
        )

    def _exit_code(self) -> int:
        grabber, counts = self._grabber, self.tally.read()
        if self._is_told_to_stop:
            return exit_codes.OK
        if grabber.failure or not counts.grabbed:
            self._log.error("source", grabber.failure or f"No picture came from {self._source.name}.")
            return exit_codes.BROKEN if grabber.is_broken else exit_codes.NO_INPUT
        # A video that was played to nobody.
        return exit_codes.OK if counts.answered or counts.in_flight else exit_codes.UNAVAILABLE

    def _finish(self) -> None:
        self._tracker.is_stopping = True
        self._reporter.stopping()
        self._source.close()
        self._grabber.join(GRAB_LIMIT_S)
        self._sender.close(IN_FLIGHT_LIMIT_S)
        self._end_session()
        if self._preview is not None:
            self._preview.close()
        self._client.close()
        self._wake_up.close()
        self._log.close()
        self._reporter.close()
        counts = self.tally.read()
        if self._grabber.has_begun:
            lasted_s = time.monotonic() - self._tracker.began_at
            facts = {**counts.__dict__, "adds_up": counts.adds_up}
            self._log.info("stop", format_summary(counts, lasted_s), counts=facts)

    def _end_session(self) -> None:
        if not self.tally.read().answered:
            return
        path = self._uplink().request.session_path
        transport = self._client.transport
        connection = transport.open_connection()  # one from before may be dead, and there is no time to find out
        try:
            connection.exchange("DELETE", path, transport.headers(None), timeout_s=END_LIMIT_S)
        except OnlookerError as error:
            self._log.debug("session", f"The session ends by itself in a minute: {error}")
        finally:
            connection.close()


def check_server(transport: Transport, agent_log: AgentLog) -> None:
    """Raises ConfigError for credentials that are wrong; whatever may pass by itself is only said."""
    try:
        stream = _ask(transport)
    except BadCredentials as error:
        raise ConfigError(explain_refusal(error)) from None
    except (LinkError, NotNow) as error:
        agent_log.warn_once("offline", f"{error} The agent keeps trying.", once="gap")
    except Refused as error:
        agent_log.warn_once("refused", str(error), once="gap")
    else:
        _say(stream, agent_log)


def _ask(transport: Transport) -> dict[str, Any]:
    try:
        return transport.request_json("GET", "/stream", repeat=Repeat.NEVER, timeout_s=LIMIT_S)
    except BadRequest:  # an older server can't say it, but knows who may ask
        transport.request_json("GET", "/services", repeat=Repeat.NEVER, timeout_s=LIMIT_S)
        return {}


def _say(stream: dict[str, Any], agent_log: AgentLog) -> None:
    state = stream.get("state", "ready")
    if state == "disabled":
        agent_log.warn_once("refused", f"{SWITCHED_OFF} {ASKS_AGAIN}", once="gap")
    elif state == "month_used_up":
        resets_at = (stream.get("month") or {}).get("resets_at")
        agent_log.warn_once("refused", f"{used_up(resets_at)} {ASKS_AGAIN}", once="gap")
    else:
        agent_log.info("connected", "The server accepts this stream.")
