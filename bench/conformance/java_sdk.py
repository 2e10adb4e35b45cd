"""The bytes that the historic Java SDK puts on the wire: written out here, because its bytes are what must be taken."""

import base64
import json
import socket
import ssl
from typing import Any
from urllib.parse import urlsplit

from bench.conformance.programs import Installation

BOUNDARY = "Zq-_7aB0kL9mN2xYcV4wTrE8sDfGhJ1uP3oI5"
"""30 to 40 of these characters, drawn for each request."""
ACCEPT = "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2"
"""What Java's own HTTP client says where nobody says anything else."""


def _part(name: str, content: bytes, *, is_file: bool) -> bytes:
    """No type, a semicolon at the end of the line, and the field's own name as the file's."""
    disposition = f'Content-Disposition: form-data; name="{name}";'
    disposition += f' filename="{name}";' if is_file else ""
    return f"--{BOUNDARY}\r\n{disposition}\r\n\r\n".encode() + content + b"\r\n"


def _request(place: Installation, method: str, path: str, body: bytes = b"") -> bytes:
    """With headers in the order of Java's HttpURLConnection."""
    address = urlsplit(place.stack.url)
    credentials = base64.b64encode(":".join(place.stream.auth).encode()).decode()
    lines = [f"{method} {path} HTTP/1.1", f"Authorization: Basic {credentials}"]
    if body:
        lines += [f"Content-Type: multipart/form-data;boundary={BOUNDARY}"]
        lines += ["Cache-Control: no-cache", "Pragma: no-cache"]
    lines += ["User-Agent: Java/1.8.0_131", f"Host: {address.netloc}", f"Accept: {ACCEPT}", "Connection: close"]
    lines += [f"Content-Length: {len(body)}"] if body else []
    return "\r\n".join([*lines, "", ""]).encode() + body


def _ask(place: Installation, method: str, path: str, body: bytes = b"") -> tuple[int, dict[str, Any]]:
    address = urlsplit(place.stack.url)
    trust = ssl.create_default_context(cafile=place.stack.ca_file)
    host, port = str(address.hostname), address.port or 443
    with (
        socket.create_connection((host, port), timeout=30) as plain,
        trust.wrap_socket(plain, server_hostname=host) as connection,
    ):
        connection.sendall(_request(place, method, path, body))
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(content)


def _multipart(meta: dict[str, Any], **files: bytes) -> bytes:
    parts = [_part(f"attachment://{name}", content, is_file=True) for name, content in files.items()]
    parts.append(_part("meta", json.dumps(meta, separators=(",", ":")).encode(), is_file=False))
    return b"".join(parts) + f"--{BOUNDARY}--\r\n".encode()


def finds_a_service(place: Installation) -> None:
    status, directory = _ask(place, "GET", "/services")
    assert status == 200, directory
    status, service = _ask(place, "GET", directory["services"]["face_detection"]["url"])
    assert service["versions"]["1"]["url"] == "/services/face_detection/1", (status, service)


def sends_a_picture_with_meta_last(place: Installation) -> None:
    meta = {"image": "attachment://photo.jpg", "async": False}
    body = _multipart(meta, **{"photo.jpg": place.picture})
    status, job = _ask(place, "POST", "/services/face_detection/1/jobs", body)
    assert (status, job["status"], job["nb_faces"]) == (201, 201, 1), job


def sends_multipart_without_any_attachment(place: Installation) -> None:
    """This SDK never sends a plain JSON body."""
    status, job = _ask(place, "POST", "/services/dummy/1/jobs", _multipart({"echo": "java", "async": False}))
    assert (status, job["echo"]) == (201, "java"), job


def keeps_a_session(place: Installation) -> None:
    state = {"session_id": "5f0c8f6e-5f8b-4f39-9d0e-6f4f6f1f0c11"}
    meta = {"image": "attachment://photo.jpg", "state": state, "async": False}
    body = _multipart(meta, **{"photo.jpg": place.picture})
    counts = [_ask(place, "POST", "/services/face_detection/1/jobs", body)[1]["nb_faces"] for _ in range(4)]
    assert counts == [0, 0, 0, 1], counts


def stores_a_blob_for_a_composite_call(place: Installation) -> None:
    body = _multipart({"content": "attachment://photo.jpg"}, **{"photo.jpg": place.picture})
    status, blob = _ask(place, "POST", "/blobs", body)
    assert status == 201, blob
    for service in ("face_detection", "gaze_analysis"):
        status, job = _ask(place, "POST", f"/services/{service}/1/jobs", _multipart({"image": blob["url"]}))
        assert status == 202, job


CHECKS = (
    finds_a_service,
    sends_a_picture_with_meta_last,
    sends_multipart_without_any_attachment,
    keeps_a_session,
    stores_a_blob_for_a_composite_call,
)
