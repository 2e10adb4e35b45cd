"""Reading server-sent events as a browser does."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import httpx2

Event = tuple[str, Any]


@dataclass
class Ear:
    """What was heard of one answer so far."""

    status: int
    headers: httpx2.Headers
    events: list[Event] = field(default_factory=list)
    is_over: threading.Event = field(default_factory=threading.Event)
    came_at: list[float] = field(default_factory=list)

    def named(self, name: str) -> list[Any]:
        return [data for found, data in self.events if found == name]

    def await_event(self, name: str, *, count: int = 1, within_s: float = 10.0) -> Any:
        """The data of the event of this name that came as the so-manieth."""
        give_up_at = time.monotonic() + within_s
        while len(self.named(name)) < count:
            assert time.monotonic() < give_up_at, f"no {name} came, but {self.events}"
            time.sleep(0.02)
        return self.named(name)[count - 1]


def _listen(answer: httpx2.Response, ear: Ear) -> None:
    name = ""
    try:
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                ear.events.append((name, json.loads(line.removeprefix("data: "))))
                ear.came_at.append(time.monotonic())
    except (httpx2.HTTPError, httpx2.StreamError, OSError):
        pass  # closed by the test, or by a process that was killed
    finally:
        ear.is_over.set()


@contextmanager
def listening(client: httpx2.Client, path: str) -> Iterator[Ear]:
    """Hears events in a thread until the block ends."""
    with client.stream("GET", path, headers={"Accept": "text/event-stream"}) as answer:
        ear = Ear(answer.status_code, answer.headers)
        thread = threading.Thread(target=_listen, args=(answer, ear), daemon=True)
        thread.start()
        try:
            yield ear
        finally:
            with suppress(OSError):  # closing alone would leave it open for as long as the thread reads
                answer.extensions["network_stream"].get_extra_info("socket").shutdown(socket.SHUT_RDWR)
            thread.join()
