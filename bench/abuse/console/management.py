"""Schemathesis on the management interface: with a key that may do all, at things that are there, and without one."""

import json
import subprocess
import sys
from typing import Any

import httpx2

from bench.abuse.openapi import CONFORMANCE, OpenApiFuzz, Request, content_type_of
from onlooker.proof.questions.tally import AnswerTally
from onlooker.proof.questions.wire import WireAnswer
from testkit import Stack

DOCUMENT = "/api/v1/openapi.json"
NEW_WORLD_EVERY = 400
"""Requests: by then most of what is there was changed or removed by them."""
STRANGER_EVERY = 12
"""One request in so many has a key that nobody has."""
MADE_UP_EVERY = 4
"""One in so many names things that are not there."""
NEVER_MADE_UP = "key_id"
"""A small number could be the run's own key, which would end the run."""
OF_THE_ADDRESS = (b"/api/v1/ lists all of them", b"The address or a cookie contains a NUL character")
"""What is said of an address that is none: nothing was looked up for it, so no key is asked for."""
WORLD: tuple[tuple[str, dict[str, Any], str, str], ...] = (
    ("sites", {"name": "Lyon"}, "site_id", "id"),
    ("templates", {"name": "Window", "preset": "counts"}, "template_id", "id"),
    ("streams", {"name": "Door", "preset": "counts"}, "client_id", "stream.client_id"),
    ("keys", {"name": "Other", "scopes": ["numbers"]}, "key_id", "key.id"),
    ("webhooks", {"url": "https://example.org/hook"}, "webhook_id", "webhook.id"),
)
"""What is created, and where its answer has the number of it."""


class ManagementSchema(OpenApiFuzz):
    """Goes through every operation of the table until enough was sent."""

    checks = CONFORMANCE

    def __init__(self, stack: Stack, key: str, tally: AnswerTally) -> None:
        super().__init__(stack.console_url, ca_file=str(stack.ca_file), document_path=DOCUMENT)
        self._key = key
        self._tally = tally
        self._known: dict[str, str] = {}
        self._worlds = 0

    def send(self, case: Request, *, is_right: bool) -> None:
        if self.sent % NEW_WORLD_EVERY == 1:
            self._make_world()
        self._name_known(case)
        stranger = self.sent % STRANGER_EVERY == 0
        key = "onl_" + "x" * 43 if stranger else self._key
        what = f"{case.method} {case.formatted_path} | {case.query!r} | {case.body!r}"
        response = self.call(case, what, headers={"Authorization": f"Bearer {key}"})
        if isinstance(response, int):
            self._tally.note("management", what, WireAnswer(response), expected=())
            return
        answer = WireAnswer(response.status_code, response.content or b"", content_type_of(response))
        is_judged_by_key = stranger and not any(said in answer.body for said in OF_THE_ADDRESS)
        self._tally.note("management", what, answer, expected=(401, 429) if is_judged_by_key else range(200, 500))

    def _name_known(self, case: Request) -> None:
        """In place of what was made up."""
        for name in case.path_parameters or {}:
            if name in self._known and (name == NEVER_MADE_UP or self.sent % MADE_UP_EVERY):
                case.path_parameters[name] = self._known[name]

    def _make_world(self) -> None:
        """What can't be created any more, since a limit is reached, stays as it was."""
        self._worlds += 1
        for path, body, parameter, place in WORLD:
            named = body | ({"name": f"{body['name']} {self._worlds}"} if "name" in body else {})
            answer = self._session.post(
                f"{self._url}/api/v1/{path}",
                json=named,
                headers={"Authorization": f"Bearer {self._key}"},
                verify=self._ca_file,
                timeout=20,
            )
            if answer.status_code == 201:
                self._known[parameter] = _find(answer.json(), place)


def _find(said: Any, place: str) -> str:
    for name in place.split("."):
        said = said[name]
    return str(said)


def create_key(stack: Stack, owner: str) -> str:
    """One that may do all that a key can."""
    scopes = [part for scope in ("manage", "enrol", "numbers", "frames") for part in ("--scope", scope)]
    command = [
        sys.executable,
        "-m",
        "onlooker",
        "key",
        "create",
        "Abuse",
        "--owner",
        owner,
        "--role",
        "owner",
        "--json",
    ]
    done = subprocess.run([*command, *scopes], text=True, check=True, env=stack.environment, stdout=subprocess.PIPE)
    key: str = json.loads(done.stdout)["key"]
    return key


def is_still_served(client: httpx2.Client, key: str) -> bool:
    """Whether the key still reads, after all of it."""
    return client.get("/api/v1/streams", headers={"Authorization": f"Bearer {key}"}).status_code == 200
