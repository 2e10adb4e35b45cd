"""An agent in a thread of the test, with the log that it writes."""

import io
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from testkit import Stack, TestStream

from onlooker_client.agent.agent import Agent
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.config import Config
from onlooker_client.terminal import Terminal


def config_of(product: Stack, stream: TestStream, *, url: str | None = None) -> Config:
    return Config(
        url=url or product.url,
        client_id=stream.client_id,
        access_token=stream.access_token,
        ca_file=product.ca_file,
    )


@dataclass
class Run:
    """What is seen of a running agent."""

    agent: Agent
    out: io.StringIO
    ended: threading.Event = field(default_factory=threading.Event)
    exit_code: int | None = None
    error: BaseException | None = None

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]

    def events(self, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["event"] == name]

    @property
    def counts(self) -> Any:
        return self.agent.tally.read()

    def await_event(self, name: str, *, times: int = 1, limit_s: float = 15.0) -> dict[str, Any]:
        await_true(lambda: len(self.events(name)) >= times, limit_s, f"{name}: {self.out.getvalue()}")
        return self.events(name)[times - 1]

    def await_answers(self, count: int, limit_s: float = 20.0) -> None:
        wanted = self.counts.answered + count
        await_true(lambda: self.counts.answered >= wanted, limit_s, self.out.getvalue())

    def _go(self) -> None:
        try:
            self.exit_code = self.agent.run()
        except BaseException as error:  # noqa: BLE001 - it is looked at by the test
            self.error = error
        finally:
            self.ended.set()


def await_true(condition: Callable[[], bool], limit_s: float, what: str) -> None:
    give_up_at = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < give_up_at, f"did not come true within {limit_s} s: {what}"
        time.sleep(0.02)


@contextmanager
def running_agent(plan: AgentOptions, read_config: Callable[[], Config], **options: Any) -> Iterator[Run]:
    out = io.StringIO()
    run = Run(Agent(plan, read_config, AgentLog(Terminal.of(out), as_json=True), **options), out)
    thread = threading.Thread(target=run._go)
    thread.start()
    try:
        yield run
    finally:
        run.agent.stop()
        thread.join(20)
        assert not thread.is_alive()
