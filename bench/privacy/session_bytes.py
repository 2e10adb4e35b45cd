"""How long session records can be read from the bus's files, at the default settings."""

import argparse
import threading
import time
import uuid
from typing import Any

from bench.lib.clients import open_client
from bench.lib.product import conclude, running_product, say
from onlooker.bus.session_store import sealed_name
from onlooker.proof.bus_files import BusFiles
from testkit import Stack, TestStream

CAMERAS = 4
FRAME_S = 0.1
LOOK_EVERY_S = 10.0
RECORD_TARGET_S = 16 * 60 + 60
DELETED_TARGET_S = 60.0
PADDING = "0123456789" * 140
"""Makes a record about as long as a scene's."""
DELETED_AFTER_S = 120.0


class SessionCamera(threading.Thread):
    """Sends frames in one session; the last camera of several ends its session early, and the others go on."""

    def __init__(self, stack: Stack, stream: TestStream, *, ends_after_s: float) -> None:
        super().__init__(daemon=True)
        self._stack, self._stream, self._ends_after_s = stack, stream, ends_after_s
        session_id = uuid.uuid4()
        self._session_id = str(session_id)
        self.name_on_bus = sealed_name(f"{stream.id}.dummy-1.{session_id.hex}")
        self.deleted_at: float | None = None
        self.failures: list[str] = []

    def run(self) -> None:
        began = time.time()
        body = {"async": False, "state": {"session_id": self._session_id}, "echo": f"{self._session_id} {PADDING}"}
        with open_client(self._stack, self._stream) as client:
            while time.time() - began < self._ends_after_s:
                answer = client.post("/services/dummy/1/jobs", json=body)
                if answer.status_code != 201:
                    self.failures.append(answer.text)
                time.sleep(FRAME_S)
            answer = client.delete(f"/services/dummy/1/sessions/{self._session_id}")
            if answer.status_code != 204:
                self.failures.append(answer.text)
        self.deleted_at = time.time()

    @property
    def marker(self) -> bytes:
        return self._session_id.encode()


def measure(stack: Stack, *, minutes: float) -> dict[str, Any]:
    stream = stack.create_stream()
    run_s = minutes * 60
    ends = [run_s] * (CAMERAS - 1) + [min(DELETED_AFTER_S, run_s / 2)]
    cameras = [SessionCamera(stack, stream, ends_after_s=end_s) for end_s in ends]
    for camera in cameras:
        camera.start()
    began, oldest_s, after_delete_s, plain = time.time(), 0.0, 0.0, 0
    while time.time() - began < run_s - LOOK_EVERY_S:
        time.sleep(LOOK_EVERY_S)
        files, now = BusFiles.read(stack.home), time.time()
        oldest = files.oldest_readable()
        oldest_s = max(oldest_s, now - oldest.written_at if oldest else 0.0)
        deleted = cameras[-1]
        if deleted.deleted_at and deleted.name_on_bus in files.session_keys():
            after_delete_s = max(after_delete_s, now - deleted.deleted_at)
        plain += sum(files.holds(camera.marker) for camera in cameras)
        records = files.sealed_states()
        in_files_s = now - records[0].written_at if records else 0.0
        say(f"{now - began:.0f} s: readable {oldest_s:.0f} s at most, sealed bytes up to {in_files_s:.0f} s old")
    for camera in cameras:
        camera.join(60)
    failures = [failure for camera in cameras for failure in camera.failures]
    return {
        "ok": not failures and not plain and oldest_s <= RECORD_TARGET_S and after_delete_s <= DELETED_TARGET_S,
        "minutes": minutes,
        "oldest_readable_s": round(oldest_s, 1),
        "oldest_readable_target_s": RECORD_TARGET_S,
        "key_seen_after_delete_s": round(after_delete_s, 1),
        "key_seen_after_delete_target_s": DELETED_TARGET_S,
        "looks_with_plain_bytes": plain,
        "failed": len(failures),
        "first_failure": failures[0] if failures else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("minutes", type=float, nargs="?", default=24.0)
    arguments = parser.parse_args()
    with running_product(rate_limit_per_second=1e5, rate_limit_burst=10**5, log_level="info") as stack:
        figures = measure(stack, minutes=arguments.minutes)
    conclude(figures)


if __name__ == "__main__":
    main()
