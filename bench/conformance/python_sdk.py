"""What the historic Python SDK itself does: directory, jobs, blobs, sessions, the streaming variant, every service."""

import hashlib
import io
import json
from collections.abc import Iterator
from typing import Any

import requests
from angus.client import rest

from bench.conformance.sdk_visitor import Visitor, checks_of, run_checks

PICTURE = bytes(range(256)) * 200
FRAMES = 12
VISION = (
    "face_detection",
    "gaze_analysis",
    "motion_detection",
    "age_and_gender_estimation",
    "face_expression_estimation",
    "scene_analysis",
)


def picture() -> io.BytesIO:
    return io.BytesIO(PICTURE)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


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
        status = None if error.response is None else error.response.status_code
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
    assert visitor.await_result(job.endpoint)["echo"] == "later"


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


def check_all_eight_services(visitor: Visitor) -> None:
    listed = set(visitor.root.services.list({})["services"])
    assert {"dummy", "sound_localization", *VISION} <= listed, listed
    for name in VISION:
        result = visitor.service(name).process({"image": visitor.picture()}).result
        assert result["status"] == 201, (name, result)
        assert "error" not in result, (name, result)
    heard = {"sound": visitor.sound(), "baseline": 0.2, "sensitivity": 0.5}
    assert "sources" in visitor.service("sound_localization").process(heard).result


def check_all_eight_services_accepted(visitor: Visitor) -> None:
    """The same without waiting: 202, then GET until the result is there."""
    for name in VISION:
        job = visitor.service(name).process({"image": visitor.picture()}, async_=True)
        assert job.status == 202, (name, job.result)
        result = visitor.await_result(job.endpoint)
        assert "error" not in result, (name, result)


def check_face_in_a_session_from_the_fourth_picture_on(visitor: Visitor) -> None:
    service = visitor.service("face_detection")
    service.enable_session()
    counts = [service.process({"image": visitor.picture()}).result["nb_faces"] for _ in range(5)]
    service.disable_session()
    assert counts == [0, 0, 0, 1, 1], counts


if __name__ == "__main__":
    run_checks(checks_of(globals()))
