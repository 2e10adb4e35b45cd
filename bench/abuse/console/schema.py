"""Schemathesis on the console's own OpenAPI document: whether every answer is one that the document promises."""

import random
from typing import Any

from schemathesis.specs.openapi.checks import negative_data_rejection

from bench.abuse.openapi import CONFORMANCE, OpenApiFuzz, Request, content_type_of
from onlooker.proof.questions.tally import AnswerTally
from onlooker.proof.questions.wire import WireAnswer
from testkit import Stack

RIGHT_EVERY = 10
"""One request in so many that fit the document has right credentials."""
SAME_ADDRESS_EVERY = 3
"""One request in so many comes from one and the same address, with one username where it has one: it is throttled."""


class ConsoleSchema(OpenApiFuzz):
    """Goes through every operation of the document until enough was sent."""

    checks = (*CONFORMANCE, negative_data_rejection)

    def __init__(self, stack: Stack, credentials: dict[str, str], tally: AnswerTally) -> None:
        super().__init__(stack.console_url, ca_file=stack.ca_file)
        self._credentials: dict[str, Any] = dict(credentials)
        self._tally = tally
        self._random = random.Random("console")

    def send(self, case: Request, *, is_right: bool) -> None:
        if is_right and isinstance(case.body, dict) and self.sent % RIGHT_EVERY == 0:
            case.body = self._credentials
        fixed = self.sent % SAME_ADDRESS_EVERY == 0
        if is_right and fixed and isinstance(case.body, dict) and case.body is not self._credentials:
            case.body = case.body | {"username": "throttled@example.org"}
        address = "198.51.100.1" if fixed else f"10.{self._random.randrange(256)}.{self._random.randrange(256)}.1"
        what = f"{case.method} {case.formatted_path} | {case.media_type} | {case.headers!r} | {case.body!r}"
        response = self.call(case, what, headers={"X-Forwarded-For": address})
        if isinstance(response, int):
            self._tally.note("schemathesis", what, WireAnswer(response), expected=())
        else:
            answer = WireAnswer(response.status_code, response.content or b"", content_type_of(response))
            self._tally.note("schemathesis", what, answer, expected=range(200, 500))
