"""What the historic public client must be able to do; runs in its own environment and prints JSON."""

import hashlib
import io
import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import angus.client
import requests
from angus.client import cloud, rest

PICTURE = bytes(range(256)) * 200
FRAMES = 12
WAIT_S = 20.0


class Visitor:
    """An integrator's program: one connection to the gateway, as the historic client makes it."""

    def __init__(self, url: str, client_id: str, access_token: str, ca_file: str) -> None:
        self._url = url
        self.conf = rest.Configuration()
        self.conf.set_credential(client_id, access_token)
        self.conf.set_ca_path(ca_file)
        self.root = self.connect(self.conf)

    def connect(self, conf: rest.Configuration) -> cloud.Root:
        return angus.client.connect(url=self._url, conf=conf)

    def service(self, name: str) -> rest.Service:
        return self.root.services.get_service(name, version=1)


def picture() -> io.BytesIO:
    return io.BytesIO(PICTURE)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def await_result(conf: rest.Configuration, url: str) -> dict[str, Any]:
    """Fetch an accepted job until its status is 200."""
    job = rest.Job(url, url, conf=conf)
    give_up_at = time.monotonic() + WAIT_S
    while time.monotonic() < give_up_at:
        job.fetch()
        if job.status == 200:
            return job.result
        assert job.status == 202, job.result
        time.sleep(0.1)
    raise AssertionError(f"no result after {WAIT_S:g} s: {job.result}")


def check_connect(visitor: Visitor) -> None:
    services = visitor.root.services.list({"name": "dummy"})["services"]
    assert services["dummy"]["url"] == "/services/dummy", services


def check_bad_credentials(visitor: Visitor) -> None:
    conf = rest.Configuration()
    conf.set_credential("00000000-0000-0000-0000-000000000000", "wrong")
    conf.set_ca_path(visitor.conf.verify)
    status = None
    try:
        visitor.connect(conf).services.list({})
    except requests.HTTPError as error:
        status = error.response.status_code
    assert status == 401, status


def check_directory(visitor: Visitor) -> None:
    named = visitor.root.services.get_service("dummy", version=1)
    latest = visitor.root.services.get_service("dummy")
    assert named.endpoint == latest.endpoint, (named.endpoint, latest.endpoint)
    assert {"dummy", "face_detection", "scene_analysis"} <= set(visitor.root.services.list({})["services"])


def check_description(visitor: Visitor) -> None:
    service = visitor.service("dummy")
    service.get_description()
    described = service.description.representation
    assert described["version"] == 1, described
    assert described["jobs"] == service.jobs.endpoint, (described, service.jobs.endpoint)
    assert described["description"], described


def check_dummy_sync(visitor: Visitor) -> None:
    job = visitor.service("dummy").process({"echo": "hello"})
    assert (job.status, job.result["echo"]) == (201, "hello"), job.result
    first = dict(job.result)
    job.fetch()
    assert job.result == first, (job.result, first)
    assert visitor.service("dummy").process().result["echo"] == "echo"


def check_dummy_async(visitor: Visitor) -> None:
    job = visitor.service("dummy").process({"echo": "later"}, async_=True)
    assert job.status == 202, job.result
    assert await_result(visitor.conf, job.endpoint)["echo"] == "later"


def check_dummy_future(visitor: Visitor) -> None:
    service = visitor.service("dummy")
    futures = [service.process_async({"echo": str(number)}) for number in range(5)]
    assert [future.result().result["echo"] for future in futures] == list("01234")


def check_attachment(visitor: Visitor) -> None:
    job = visitor.service("measure").process({"image": picture()})
    assert job.status == 201, job.result
    assert (job.result["size"], job.result["sha256"]) == (len(PICTURE), sha256(PICTURE)), job.result


def check_blob(visitor: Visitor) -> None:
    """Created once, used twice."""
    blob = visitor.root.blobs.create(picture())
    assert blob.status == 201, blob.representation
    for _ in range(2):
        job = visitor.service("measure").process({"image": blob})
        assert job.result["sha256"] == sha256(PICTURE), job.result


def check_session(visitor: Visitor) -> None:
    service = visitor.service("dummy")
    service.enable_session({"echo": "from the session"})
    results = [service.process().result for _ in range(5)]
    assert [result["calls"] for result in results] == [1, 2, 3, 4, 5], results
    assert {result["echo"] for result in results} == {"from the session"}, results
    service.disable_session()
    assert "calls" not in service.process().result
    service.enable_session()
    assert service.process().result["calls"] == 1


def check_composite(visitor: Visitor) -> None:
    composite = visitor.root.services.get_services(["dummy", ("measure", 1)])
    answers = composite.process({"image": picture(), "echo": "both"}).result
    assert {answers[name]["status"] for name in ("dummy", "measure")} == {202}, answers
    assert await_result(visitor.conf, answers["dummy"]["url"])["echo"] == "both"
    assert await_result(visitor.conf, answers["measure"]["url"])["sha256"] == sha256(PICTURE)


def check_stream_dummy(visitor: Visitor) -> None:
    def frames() -> Iterator[tuple[dict[str, Any], str, bytes]]:
        for number in range(FRAMES):
            yield {"echo": f"frame {number} é"}, "image", b"\r\n\r\nContent-Length: 0\r\n--myb"

    parts = [json.loads(part) for part in visitor.service("dummy").stream(data=frames())]
    assert [part["echo"] for part in parts] == [f"frame {number} é" for number in range(FRAMES)], parts


def check_stream_session(visitor: Visitor) -> None:
    pictures = [PICTURE[number : 20_000 + 997 * number] for number in range(FRAMES)]
    service = visitor.service("measure")
    service.enable_session()
    parts = [json.loads(part) for part in service.stream(data=(({}, "image", data) for data in pictures))]
    assert [part["sha256"] for part in parts] == list(map(sha256, pictures)), parts
    assert [part["frames"] for part in parts] == list(range(1, FRAMES + 1)), parts


CHECKS: dict[str, Callable[[Visitor], None]] = {
    name.removeprefix("check_"): check for name, check in list(globals().items()) if name.startswith("check_")
}


def main() -> None:
    visitor = Visitor(*sys.argv[1:])
    passed: dict[str, bool] = {}
    for name, check in CHECKS.items():
        try:
            check(visitor)
        except Exception:  # noqa: BLE001  the client may fail in any way, and the other checks go on
            traceback.print_exc(limit=-4, chain=False)
            passed[name] = False
        else:
            passed[name] = True
        print(f"{name}: {'passed' if passed[name] else 'FAILED'}", file=sys.stderr, flush=True)
    print(json.dumps(passed))


if __name__ == "__main__":
    main()
