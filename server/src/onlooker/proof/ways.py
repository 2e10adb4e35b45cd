"""Every way in which a picture reaches the product over HTTP: marked ones are sent down each of them."""

import json
import time
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from onlooker.proof.check import Unchecked
from onlooker.proof.installation import HttpAnswer, Installation, ProofStream, basic_authorization
from onlooker_pipeline.catalogue import SERVICES

SCENE = "scene_analysis"
SESSION_FRAMES = 5
"""A face is reported from its fourth sighting on."""
FRAME_S = 0.2
JOB_LIMIT_S = 60.0
_BOUNDARY = "onlooker-proof"


@dataclass
class Sent:
    """What was sent down one way, and what came back."""

    way: str
    frames: int = 0
    people: int = 0
    """Faces or entities in the answers: the pictures were really looked at."""
    answers: list[bytes] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def take(self, answer: HttpAnswer, *expected: int) -> Any:
        self.answers.append(answer.body)
        if answer.status not in expected:
            self.faults.append(f"answered {answer.status}: {answer.body[:200].decode(errors='replace')}")
            return {}
        said = answer.json() if answer.body else {}
        if "error" in said:
            self.faults.append(f"error: {said['error']}")
        self.count_people(said)
        return said

    def count_people(self, result: Mapping[str, Any]) -> None:
        self.people += int(result.get("nb_faces", 0)) + len(result.get("entities", {}))


@dataclass(frozen=True)
class Caller:
    """Calls the gateway as one stream."""

    installation: Installation
    authorization: dict[str, str]

    @classmethod
    def of(cls, installation: Installation, stream: ProofStream) -> "Caller":
        return cls(installation, stream.basic)

    def get(self, url: str) -> HttpAnswer:
        return self.installation.call(self._own(url), headers=self.authorization)

    def delete(self, url: str) -> HttpAnswer:
        return self.installation.call(self._own(url), method="DELETE", headers=self.authorization)

    def post(self, url: str, body: bytes, media_type: str) -> HttpAnswer:
        headers = self.authorization | {"Content-Type": media_type}
        return self.installation.call(self._own(url), method="POST", headers=headers, body=body)

    def post_job(self, service: str, picture: bytes, **fields: Any) -> HttpAnswer:
        meta = {"image": "attachment://picture"} | fields
        return self.post(f"/services/{service}/1/jobs", *multipart(meta, picture))

    def _own(self, url: str) -> str:
        """Absolute URLs of answers have the public address; a proxy may lie in front of it."""
        return self.installation.gateway_url + urlsplit(url).path


def multipart(meta: Mapping[str, Any], picture: bytes) -> tuple[bytes, str]:
    """A body of the wire, and its media type."""
    head = f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="'
    json_part = f'{head}meta"\r\nContent-Type: application/json\r\n\r\n{json.dumps(meta)}\r\n'
    binary = f'{head}attachment://picture"; filename="picture"\r\nContent-Type: image/jpeg\r\n\r\n'
    body = json_part.encode() + binary.encode() + picture + f"\r\n--{_BOUNDARY}--\r\n".encode()
    return body, f"multipart/form-data; boundary={_BOUNDARY}"


def picture_services(installation: Installation) -> list[str]:
    """Those of this installation that take a picture."""
    answer = Caller.of(installation, installation.stream).get("/services")
    if answer.status != 200:
        raise Unchecked(f"The gateway at {installation.gateway_url} answers {answer.status}. Is `onlooker up` running?")
    offered = set(answer.json()["services"])
    taking = [one.name for one in SERVICES if any(field.name == "image" for field in one.media_fields)]
    chosen = [name for name in taking if name in offered]
    if not chosen:
        raise Unchecked("No service of this installation takes pictures (ONLOOKER_WORKER_SERVICES).")
    return chosen


def send_synchronous(caller: Caller, services: list[str], picture: bytes) -> Sent:
    """To every service once."""
    sent = Sent("sync")
    for service in services:
        sent.take(caller.post_job(service, picture, **{"async": False}), 201)
        sent.frames += 1
    return sent


def send_asynchronous(caller: Caller, services: list[str], picture: bytes) -> Sent:
    """An accepted job for every service; waits until they have ended."""
    sent = Sent("async")
    for url in [sent.take(caller.post_job(service, picture), 202).get("url", "") for service in services]:
        sent.frames += 1
        if url:
            sent.take(_await_job(caller, url), 200)
    return sent


def send_session(caller: Caller, services: list[str], picture: bytes) -> Sent:
    """Frames of a camera, to be stored as visits."""
    sent = Sent("session")
    _send_frames(caller, _best(services), picture, sent)
    return sent


def send_blob(caller: Caller, services: list[str], picture: bytes, look: Callable[[], bool]) -> Sent:
    """A blob that its owner stores, uses and deletes; `look` says whether it can be found while it is stored."""
    sent = Sent("blob")
    url = sent.take(caller.post("/blobs", *multipart({"content": "attachment://picture"}, picture)), 201).get("url", "")
    if not url:
        return sent
    fields = json.dumps({"async": False, "image": url}).encode()
    sent.take(caller.post(f"/services/{services[0]}/1/jobs", fields, "application/json"), 201)
    sent.frames += 1
    if not look():
        sent.faults.append("a blob that is stored on purpose was not found: the search is blind there")
    sent.take(caller.delete(url), 204)
    return sent


def send_streaming(caller: Caller, services: list[str], picture: bytes) -> Sent:
    """One long body of pictures, and one long answer; in a session, without which nobody is followed."""
    sent = Sent("streaming")
    service = _best(services)
    fields = json.dumps({"state": _new_session()}).encode()
    opened = sent.take(caller.post(f"/services/{service}/1/streams", fields, "application/json"), 201)
    if not opened:
        return sent
    head = f"--myboundary\r\nContent-Type: image/jpeg\r\nContent-Length: {len(picture)}\r\nX-Angus-DataField: image\r\n"
    body = (f"{head}X-Angus-Parameters: {{}}\r\n\r\n".encode() + picture + b"\r\n") * SESSION_FRAMES + b"--myboundary--"
    with ThreadPoolExecutor(1) as pool:
        output = pool.submit(caller.get, opened["output"])
        answer = caller.post(opened["input"], body, "multipart/x-mixed-replace; boundary=myboundary")
        results = output.result()
    sent.frames += SESSION_FRAMES
    sent.answers += [answer.body, results.body]
    if answer.status != 200 or results.status != 200:
        sent.faults.append(f"answered {answer.status} and {results.status}")
    for part in results.body.split(b"\r\n\r\n")[1:]:
        sent.count_people(json.loads(part.partition(b"\r\n--")[0]))
    return sent


def send_trial(installation: Installation, services: list[str], picture: bytes) -> tuple[Sent, ProofStream]:
    """As the page Try it does it, and what its token must not be able to do; with a stream of its own."""
    from onlooker.streams.administration import add_trial_token
    from onlooker.streams.models import Stream

    sent, stream = Sent("trial"), installation.create_stream(reads_expression=True)
    token = add_trial_token(Stream.objects.get(pk=stream.id)).access_token
    caller = Caller(installation, basic_authorization(stream.client_id, token))
    service = _best(services)
    _send_frames(caller, service, picture, sent)
    refused = {
        "an async job": caller.post_job(service, picture),
        "a blob": caller.post("/blobs", *multipart({"content": "attachment://picture"}, picture)),
    }
    sent.faults += [
        f"{what} was not refused, but answered {answer.status}"
        for what, answer in refused.items()
        if answer.status < 400
    ]
    return sent, stream


def _new_session() -> dict[str, str]:
    return {"session_id": str(uuid.uuid4())}


def _best(services: list[str]) -> str:
    return SCENE if SCENE in services else services[0]


def _send_frames(caller: Caller, service: str, picture: bytes, sent: Sent) -> None:
    """In a session that is not ended, so that its state can be looked at."""
    fields: dict[str, Any] = {"async": False, "state": _new_session()}
    for _ in range(SESSION_FRAMES):
        sent.take(caller.post_job(service, picture, **fields, **({"store": True} if service == SCENE else {})), 201)
        sent.frames += 1
        time.sleep(FRAME_S)


def _await_job(caller: Caller, url: str) -> HttpAnswer:
    give_up_at = time.monotonic() + JOB_LIMIT_S
    while (answer := caller.get(url)).status == 202 and time.monotonic() < give_up_at:
        time.sleep(0.2)
    return answer
