"""What devices see of a cell: sessions at a steady rate, accepted jobs, and when they were refused."""

import itertools
import threading
import time
import uuid

import httpx2

from bench.lib.clients import open_client
from bench.lib.refused_times import RefusedTimes
from testkit import Stack, TestStream

FPS = 5.0
ANSWER_LIMIT_S = 20.0
PAUSE_S = 0.1
JOB_EVERY_S = 0.5


class SessionCaller(threading.Thread):
    """Calls `dummy` in one session, five times a second, until told to stop; a refused call is repeated."""

    def __init__(self, stack: Stack, stream: TestStream, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._client = open_client(stack, stream, timeout_s=ANSWER_LIMIT_S)
        self._stopped = stop
        self.refused = RefusedTimes()
        self.numbers: list[int] = []
        self.slowest_s = 0.0

    def run(self) -> None:
        body = {"async": False, "state": {"session_id": str(uuid.uuid4())}}
        due = time.monotonic()
        while not self._stopped.is_set():
            due = max(due + 1 / FPS, time.monotonic())
            self._call(body)
            self._stopped.wait(max(0.0, due - time.monotonic()))
        self._client.close()

    def _call(self, body: dict[str, object]) -> None:
        asked_at = time.monotonic()
        try:
            answer = self._client.post("/services/dummy/1/jobs", json=body)
        except httpx2.TransportError as error:
            self.refused.refuse(asked_at, type(error).__name__)
            return
        if answer.status_code != 201 or "error" in answer.json():
            self.refused.refuse(asked_at, f"{answer.status_code} {answer.text[:120]}")
            time.sleep(PAUSE_S)
            return
        self.refused.answer()
        self.slowest_s = max(self.slowest_s, time.monotonic() - asked_at)
        self.numbers.append(answer.json()["calls"])

    def steps_back(self) -> int:
        """A call whose answer was lost has a number too, so numbers may skip; they never repeat or turn back."""
        return sum(later <= earlier for earlier, later in itertools.pairwise(self.numbers))


class JobSender(threading.Thread):
    """Has a job accepted twice a second, and reads every result at the end."""

    def __init__(self, stack: Stack, stream: TestStream, stop: threading.Event) -> None:
        super().__init__(daemon=True)
        self._client = open_client(stack, stream, timeout_s=ANSWER_LIMIT_S)
        self._stopped = stop
        self.refused = RefusedTimes()
        self.accepted: dict[str, str] = {}
        """What each must answer, by its address."""

    def run(self) -> None:
        while not self._stopped.wait(JOB_EVERY_S):
            asked_at, echo = time.monotonic(), str(uuid.uuid4())
            try:
                answer = self._client.post("/services/dummy/1/jobs", json={"echo": echo})
            except httpx2.TransportError as error:
                self.refused.refuse(asked_at, type(error).__name__)
                continue
            if answer.status_code == 202:
                self.refused.answer()
                self.accepted[answer.json()["url"]] = echo
            else:
                self.refused.refuse(asked_at, f"{answer.status_code} {answer.text[:120]}")

    def lost(self, limit_s: float) -> int:
        """Accepted jobs without their result."""
        left = dict(self.accepted)
        give_up_at = time.monotonic() + limit_s
        while left and time.monotonic() < give_up_at:
            for url, echo in list(left.items()):
                try:
                    answer = self._client.get(url)
                except httpx2.TransportError:
                    break
                if answer.status_code == 200 and answer.json().get("echo") == echo:
                    del left[url]
            time.sleep(0.5 if left else 0)
        return len(left)
