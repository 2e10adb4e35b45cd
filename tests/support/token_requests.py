"""Programs that ask the console for tokens."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.test import Client

from onlooker.streams.models import Stream

PATH = "/api-token-authstream/"


@dataclass(frozen=True)
class Camera:
    """A stream and what opens it."""

    stream: Stream
    access_token: str

    def body(self, username: str = "owner@example.org", **changes: Any) -> dict[str, Any]:
        right = {"username": username, "client_id": str(self.stream.client_id), "access_token": self.access_token}
        return right | changes


class Program(Client):
    """A client that checks CSRF like a real server, over HTTPS."""

    def generic(self, method: str, path: str, *arguments: Any, **options: Any) -> Any:
        return super().generic(method, path, *arguments, **options | {"secure": True})


def program(**defaults: Any) -> Client:
    return Program(enforce_csrf_checks=True, SERVER_NAME="console.example.org", **defaults)


def ask(body: object, *, address: str = "203.0.113.7", path: str = PATH, **options: Any) -> HttpResponse:
    return program(REMOTE_ADDR=address).post(path, body, content_type="application/json", **options)


def get_token(camera: Camera, username: str = "owner@example.org") -> str:
    answer = ask(camera.body(username))
    assert answer.status_code == 200, answer.content
    return str(answer.json()["token"])
