"""The agent: one thread captures, others deliver, and the main thread supervises them until it is told to stop."""

from __future__ import annotations

import time
from typing import Any, Callable, NoReturn

from onlooker_client.agent.capture.grabber import Grabber
from onlooker_client.agent.capture.pace import Pace
from onlooker_client.agent.delivery import DeliveredFrame, Delivery
from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.hours_watch import OpeningWatch
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.process import WakeUp, replace_process, should_replace
from onlooker_client.agent.remote.control import RemoteControl
from onlooker_client.agent.remote.fitness import OpenSource
from onlooker_client.agent.remote.health_report import AgentFacts
from onlooker_client.agent.sending.backoff import STREAM_CLOSED, explain_refusal
from onlooker_client.agent.sending.server_delivery import ServerDelivery
from onlooker_client.agent.status.condition import ConditionReporter
from onlooker_client.agent.status.health import HealthServer
from onlooker_client.agent.status.log import AgentLog, format_summary
from onlooker_client.agent.status.reporter import Reporter
from onlooker_client.agent.status.state import CameraMonitor, StatusTracker
from onlooker_client.agent.stream_answer import StreamAnswer, ask_stream, report_closing, report_stream
from onlooker_client.client import Client
from onlooker_client.command import exit_codes
from onlooker_client.config import Config
from onlooker_client.enrolment.renewal import CredentialKeeper
from onlooker_client.errors import BadCredentials, ConfigError, OnlookerError
from onlooker_client.preview.output import Preview
from onlooker_client.scene import count_people
from onlooker_client.sources.opener import SourceOptions
from onlooker_client.sources.reconnection import ReconnectingSource
from onlooker_client.version import VERSION

TICK_S = 1.0
GRAB_LIMIT_S = 1.0
LOOK_AGAIN_S = 5.0
"""How often rejected credentials are read again."""


class Agent:
    """Runs once. `stop` may be called from any thread, and from a signal handler."""

    def __init__(
        self,
        options: AgentOptions,
        read_config: Callable[[], Config],
        log: AgentLog,
        *,
        preview: Preview | None = None,
        stream: StreamAnswer | None = None,
        keeper: CredentialKeeper | None = None,
        remote: RemoteControl | None = None,
        restart: Callable[[], NoReturn] | None = None,
        open_source: OpenSource = ReconnectingSource,
    ) -> None:
        """`stream` is what the server said already; it is asked where that is missing.

        Enrolled devices have `keeper` and `remote`. `restart`, which raises, stands for replacing the process.
        """
        self.tally = Tally()
        self._options = options
        self._read_config = read_config
        self._log = log
        self._preview = preview
        self._stream = stream
        self._keeper = keeper
        self._remote = remote
        self._restart = restart
        self._config = read_config()
        self._client = Client(config=self._config)
        self._is_told_to_stop = self._is_restarting = False
        self._looked_at = float("-inf")
        self._camera = CameraMonitor(log)
        self._tracker = StatusTracker(self.tally, self._camera)
        self._condition = ConditionReporter(self._client.transport, self._tracker)
        self._pace = Pace(options.fps, options.idle_fps)
        self._delivery = self._make_delivery()
        self._opening = OpeningWatch(
            self._client.transport,
            known=options.opening,
            read_clock=self._delivery.unix_s,
            own_hours=lambda: remote.hours if remote is not None else None,
        )
        wanted = SourceOptions(options.width_px, options.height_px, options.fps, options.is_looped)
        # What can fail comes before what must be closed.
        self._source = open_source(options.source, wanted, on_change=self._camera.change)
        self._camera.name = self._source.name
        self._wake_up = WakeUp()
        self._grabber = Grabber(
            source=self._source,
            camera=self._camera,
            delivery=self._delivery,
            pace=self._pace,
            tally=self.tally,
            is_closed=self._opening.is_closed,
            ended=self._wake_up.wake,
        )
        server = str(self._client.transport.address)
        self._reporter = Reporter(
            self._tracker,
            options,
            log,
            source=self._source.name,
            server=server,
            reports=self._condition.counts,
            read_delivery=self._delivery.health,
        )

    def stop(self) -> None:
        self._is_told_to_stop = True
        self._wake_up.wake()

    def health(self) -> dict[str, Any]:
        """As the health file has it."""
        return self._reporter.health()

    def facts(self, now: float) -> AgentFacts:
        """For the console, without the journal."""
        status, camera = self._tracker.read(now), self._camera.now
        is_open = camera.state == "open"
        return AgentFacts(
            state=status.state,
            uptime_s=now - self._tracker.began_at,
            camera_name=self._source.name,
            camera_state=camera.state,
            camera_since_s=now - max(camera.since, self._tracker.began_at),
            condition=camera.condition if is_open else "",
            light=self._grabber.light if is_open else None,
            counts=self.tally.read(),
            latency_s=status.latency_s,
            journal=None,
            is_computed_here=self._options.computes_here,
        )

    def read_journal(self) -> dict[str, Any] | None:
        """Visits that wait for the server; None where this device has no journal."""
        device = self._delivery.health().get("device") or {}
        return device.get("journal") or None

    def adjust(self, options: AgentOptions) -> None:
        """Other rates, without a restart."""
        self._options = options
        self._pace.fps, self._pace.idle_fps = options.fps, options.idle_fps
        self._delivery.limit_bandwidth(options.max_kbytes)

    def try_again(self) -> None:
        """Do not wait any longer after a refusal."""
        self._delivery.try_again()

    def run(self) -> int:
        """Until it is told to stop or the source ends; the exit code."""
        health = HealthServer(self._options.health_port, self._reporter.health) if self._options.health_port else None
        try:
            self._log.info("start", f"onlooker-agent {VERSION}: {self._source.name} {self._where}")
            stream = self._stream or ask_stream(self._client.transport)
            report_stream(stream, self._log, is_known=self._options.is_stream_known)
            self._opening.take(stream)
            self._delivery.start(lambda: self._is_told_to_stop)
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

    def answered(self, frame: DeliveredFrame, *, latency_s: float) -> None:
        """The delivery says it."""
        if not self._tracker.answered(frame, latency_s=latency_s):
            return
        self._pace.see_answer(time.monotonic(), people=count_people(frame.answer))
        if self._preview is not None and frame.shown is not None:
            self._preview.show(frame.shown, frame.answer)

    def lost(self, frame: DeliveredFrame, reason: Drop) -> None:
        """The delivery says it."""
        self._tracker.lost(frame, reason)

    @property
    def _where(self) -> str:
        server = self._client.transport.address
        return f"is computed here; visits go to {server}" if self._options.computes_here else f"to {server}"

    def _make_delivery(self) -> Delivery:
        if not self._options.computes_here:
            return ServerDelivery(
                self._options,
                self._client,
                self.tally,
                self,
                log=self._log,
                keeps_pixels=self._preview is not None,
            )
        from onlooker_client.device.local_delivery import LocalDelivery

        return LocalDelivery(
            self._options, self._client, self.tally, self, log=self._log, keeps_pixels=self._preview is not None
        )

    def _tick(self, now: float) -> None:
        self._delivery.tick(now)
        self._grabber.check(now)
        self._look_at_credentials(now)
        self._look_at_hours(now)
        self._reporter.tick(now)
        self._condition.tick(now)
        if should_replace(self._source.stuck_s):
            self._log.error("stuck", "The camera's driver is stuck. The agent restarts itself.")
            if self._remote is not None:
                self._remote.fail("The camera's driver was stuck.")
            self._replace()
        if self._delivery.stale:
            self._log.info("settings", f"{self._delivery.stale} The agent restarts itself.")
            self._replace()
        self._look_at_remote(now)

    def _look_at_remote(self, now: float) -> None:
        if self._remote is None:
            return
        self._remote.tick(now, self)
        if self._remote.wants_restart:
            self._log.info("configuration", f"{self._remote.wants_restart} The agent restarts itself.")
            self._replace()

    def _look_at_hours(self, now: float) -> None:
        refused = self._tracker.refused
        is_closed = self._opening.is_closed()
        is_news = refused is not None and refused.code == STREAM_CLOSED and not is_closed
        self._opening.tick(now, is_refused=is_news)
        if self._tracker.note_closed(is_closed, now):
            report_closing(self._log, is_closed=is_closed, opens_at=self._opening.opens_at())
            self._delivery.try_again()

    def _replace(self) -> NoReturn:
        if self._remote is not None:
            self._remote.prepare_restart()
        if self._restart is not None:
            self._is_restarting = True
            self._restart()
        self._delivery.abandon()
        if self._preview is not None:
            self._preview.close()
        self._log.close()
        replace_process()

    def _look_at_credentials(self, now: float) -> None:
        refused = self._tracker.refused
        is_refused = isinstance(refused, BadCredentials)
        if self._keeper is not None:
            self._keeper.tick(is_refused=is_refused)
        elif isinstance(refused, BadCredentials) and self._tracker.answered_at is None:  # they never were right
            raise ConfigError(explain_refusal(refused))
        if is_refused or self._options.computes_here or self._keeper is not None:
            self._look_for_credentials(now)

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
        self._delivery.use(client)
        self._condition.use(client.transport)
        self._opening.use(client.transport)

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
        if self._remote is not None:
            if self._is_told_to_stop:
                self._remote.prepare_restart()
            self._remote.close()
        self._reporter.stopping()
        self._source.close()
        self._grabber.join(GRAB_LIMIT_S)
        is_ending = self._is_told_to_stop or self._is_restarting
        self._delivery.close(source_ended=self._grabber.is_over and not is_ending)
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
            self._log.info("stop", format_summary(counts, lasted_s, here=self._options.computes_here), counts=facts)
