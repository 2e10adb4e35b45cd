"""Programs that use the management interface of this process, with a key."""

from collections.abc import Collection
from typing import Any

from django.http import HttpResponse

from onlooker.keys.keys import create_key
from onlooker.streams.models import MemberRole, Organisation, Site, Stream
from token_requests import program

ALL_SCOPES = ("numbers", "manage", "enrol", "frames")


class ApiProgram:
    """Sends requests with one key, or none."""

    def __init__(self, key: str = "") -> None:
        self.key = key
        self._client = program()

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> HttpResponse:
        """`headers` with `_` for `-`."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.key:
            sent["Authorization"] = f"Bearer {self.key}"
        options: dict[str, Any] = {"headers": sent}
        if method not in ("GET", "HEAD"):
            options |= {"data": "" if body is None else body, "content_type": "application/json"}
        answer: HttpResponse = getattr(self._client, method.lower())(f"/api/v1/{path}", **options)
        return answer

    def do(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """The answer of a request that succeeds."""
        answer = self.send(method, path, body, **headers)
        assert answer.status_code < 300, (method, path, answer.status_code, answer.content)
        return answer.json() if answer.content else None

    def refusal(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
        """Status and code of one that does not; it always says what to do."""
        answer = self.send(method, path, body, **headers)
        assert answer["Content-Type"] == "application/problem+json", (answer.status_code, answer.content)
        said = answer.json()
        assert said["status"] == answer.status_code
        assert said["detail"]
        return answer.status_code, said["code"]


def program_of(
    organisation: Organisation,
    *scopes: str,
    role: str = MemberRole.OWNER,
    sites: Collection[Site] = (),
    streams: Collection[Stream] = (),
) -> ApiProgram:
    """With all scopes, unless some are named."""
    made = create_key(organisation, "Program", scopes or ALL_SCOPES, sites=sites, streams=streams, role=role)
    return ApiProgram(made.text)
