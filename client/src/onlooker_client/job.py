"""A job that the server computes later."""

from __future__ import annotations

import time
from typing import Any

from onlooker_client.errors import ComputationFailed, LinkError, NotReady
from onlooker_client.wire.transport import Repeat, Transport

PENDING = 202
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 2.0


class Job:
    """Made by `Service.submit`."""

    def __init__(self, transport: Transport, answer: dict[str, Any], *, jobs_path: str) -> None:
        self._transport = transport
        self.url = str(answer.get("url") or "")
        self.id = str(answer.get("uuid") or self.url.rstrip("/").rpartition("/")[2])
        if not self.id:
            raise LinkError("The answer names no job. Is this the address of an Onlooker server?")
        self._path = transport.path_of(self.url or f"{jobs_path}/{self.id}", otherwise=f"{jobs_path}/{self.id}")

    def __repr__(self) -> str:
        return f"Job({self.url!r})"

    def result(self, *, raise_errors: bool = True) -> dict[str, Any]:
        """The result; NotReady while there is none."""
        answer = self._transport.request_json("GET", self._path, repeat=Repeat.IF_LOST)
        if answer.get("status") == PENDING:
            raise NotReady("The job has no result yet. Wait for it with Job.wait.")
        return checked_result(answer) if raise_errors else answer

    def wait(self, timeout_s: float = 60.0, *, raise_errors: bool = True) -> dict[str, Any]:
        """The result, as soon as there is one; asks less often the longer it takes."""
        deadline, pause_s = time.monotonic() + timeout_s, FIRST_PAUSE_S
        while True:
            try:
                return self.result(raise_errors=raise_errors)
            except NotReady:
                left_s = deadline - time.monotonic()
                if left_s <= 0:
                    raise NotReady(
                        f"The job has no result after {timeout_s:g} s. It is still running: wait again."
                    ) from None
            time.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 1.5, LONGEST_PAUSE_S)

    def delete(self) -> None:
        """Remove it and its result from the server."""
        self._transport.request("DELETE", self._path, repeat=Repeat.IF_LOST)


def checked_result(answer: dict[str, Any]) -> dict[str, Any]:
    """The result, if the computation went well."""
    if "error" in answer:
        raise ComputationFailed(answer)
    return answer
