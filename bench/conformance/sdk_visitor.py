"""An integrator's program on the historic Python SDK; runs in the SDK's own environment."""

import io
import json
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import angus.client
from angus.client import cloud, rest

WAIT_S = 60.0
Check = Callable[["Visitor"], None]


class Visitor:
    """One connection to the gateway, as the historic SDK makes it, and what the program has to send."""

    def __init__(self, url: str, client_id: str, access_token: str, ca_file: str, films: str) -> None:
        self._url = url
        self.films = Path(films)
        self.conf = rest.Configuration()
        self.conf.set_credential(client_id, access_token)
        self.conf.set_ca_path(ca_file)
        self.root = self.connect(self.conf)

    def connect(self, conf: rest.Configuration) -> cloud.Root:
        return angus.client.connect(url=self._url, conf=conf)

    def service(self, name: str) -> rest.Service:
        return self.root.services.get_service(name, version=1)

    def film(self, name: str) -> list[bytes]:
        """Its pictures, ten a second."""
        pictures = [path.read_bytes() for path in sorted((self.films / name).iterdir())]
        assert pictures, name
        return pictures

    def picture(self) -> io.BytesIO:
        """In which one face is seen well."""
        return io.BytesIO(self.film("passing")[45])

    def sound(self) -> io.BytesIO:
        return io.BytesIO((self.films / "sound.wav").read_bytes())

    def await_result(self, url: str) -> dict[str, Any]:
        """Poll an accepted job as the historic programs do: GET until its status is 200 or 201."""
        job = rest.Job(url, url, conf=self.conf)
        give_up_at = time.monotonic() + WAIT_S
        while time.monotonic() < give_up_at:
            job.fetch()
            if job.status in (200, 201):
                return dict(job.result)
            assert job.status == 202, job.result
            time.sleep(0.1)
        raise AssertionError(f"no result after {WAIT_S:g} s: {job.result}")


def run_checks(checks: Mapping[str, Check]) -> None:
    """All of them, whatever becomes of one; prints which passed, as JSON."""
    visitor = Visitor(*sys.argv[1:])
    passed: dict[str, bool] = {}
    for name, check in checks.items():
        try:
            check(visitor)
        except Exception:  # noqa: BLE001  the SDK may fail in any way, and the other checks go on
            traceback.print_exc(limit=-4, chain=False)
            passed[name] = False
        else:
            passed[name] = True
        print(f"  {name}: {'passed' if passed[name] else 'FAILED'}", file=sys.stderr, flush=True)
    print(json.dumps(passed))


def checks_of(module: Mapping[str, Any]) -> dict[str, Check]:
    return {name.removeprefix("check_"): check for name, check in list(module.items()) if name.startswith("check_")}
