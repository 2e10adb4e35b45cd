"""A whole device in a thread: the real agent, which starts again within the process where it would replace it."""

from __future__ import annotations

from typing import Callable, NoReturn

from onlooker_client.agent.agent import Agent
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.remote.control import RemoteControl, begin_remote
from onlooker_client.agent.remote.fitness import OpenSource
from onlooker_client.agent.remote.options import RemoteOptions
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.command import exit_codes
from onlooker_client.config import Config
from onlooker_client.enrolment.renewal import CredentialKeeper
from onlooker_client.sources.reconnection import ReconnectingSource


class RestartAsked(Exception):
    """The agent is to start again."""


class InProcessDevice:
    """Many of them may run beside one another: nothing of them is in the environment, and each has its folder."""

    def __init__(
        self,
        read_config: Callable[[], Config],
        base: AgentOptions,
        log: AgentLog,
        *,
        remote: RemoteOptions | None = None,
        open_source: OpenSource = ReconnectingSource,
    ) -> None:
        """`base` are the options without a document."""
        self.agent: Agent | None = None
        """The one that runs now."""
        self.remote: RemoteControl | None = None
        self.restarts = 0
        self._read_config = read_config
        self._base = base
        self._log = log
        self._own_level = log.least
        self._options = remote or RemoteOptions()
        self._open_source = open_source
        self._is_stopped = False

    def run(self) -> int:
        """Until it is told to stop, or a run fails outside of a trial; the exit code."""
        while not self._is_stopped:
            try:
                return self._run_once()
            except RestartAsked:
                self.restarts += 1
            finally:
                self.agent = None
        return exit_codes.OK

    def stop(self) -> None:
        """From any thread."""
        self._is_stopped = True
        agent = self.agent
        if agent is not None:
            agent.stop()

    def _run_once(self) -> int:
        config = self._read_config()
        self._log.least = self._own_level
        remote = begin_remote(config, self._log, self._options, open_source=self._open_source)
        self.remote = remote
        try:
            code = self._run_agent(config, remote)
        except RestartAsked:
            raise
        except Exception as error:
            if remote is None or not remote.fail(str(error)):
                raise
            raise RestartAsked from None
        if code != exit_codes.OK and remote is not None and remote.fail("The agent ended with it."):
            raise RestartAsked
        return code

    def _run_agent(self, config: Config, remote: RemoteControl | None) -> int:
        keeper = CredentialKeeper(config, self._log, folder=self._options.folder) if config.device_key else None
        if keeper is not None:
            keeper.check()

        def read() -> Config:
            return keeper.apply(self._read_config()) if keeper is not None else self._read_config()

        agent = Agent(
            remote.merge(self._base) if remote is not None else self._base,
            read,
            self._log,
            keeper=keeper,
            remote=remote,
            restart=_ask_restart,
            open_source=self._open_source,
        )
        self.agent = agent
        if self._is_stopped:
            agent.stop()
        return agent.run()


def _ask_restart() -> NoReturn:
    raise RestartAsked
