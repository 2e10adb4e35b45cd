"""schemathesis on the console's own OpenAPI document: whether every answer is one that the document promises."""

import contextlib
import itertools
import random
from collections import Counter
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from bench.product import say
from bench.tally import CLOSED, HUNG, Answer, Tally
from onlooker.testing import Stack

ANSWER_LIMIT_S = 20.0
RIGHT_EVERY = 10
"""One request in so many that fit the document has right credentials."""
SAME_ADDRESS_EVERY = 3
"""One request in so many comes from one and the same address, with one username where it has one: it is throttled."""
ROUND = 25
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


class ConsoleSchema:
    """Goes through every operation of the document until enough was sent."""

    def __init__(self, stack: Stack, credentials: dict[str, str], tally: Tally) -> None:
        self._url = stack.console_url
        self._credentials = credentials
        self._tally = tally
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.verify = stack.ca_file
        document = self._session.get(f"{self._url}/openapi.json", timeout=ANSWER_LIMIT_S).json()
        schema = schemathesis.openapi.from_dict(document)
        self._operations = [found.ok() for found in schema.get_all_operations()]
        self._random = random.Random("console")
        self.by_operation: Counter[str] = Counter()
        self.nonconforming: Counter[str] = Counter()
        self.samples: list[str] = []

    def run(self, *, requests_count: int) -> None:
        for number in itertools.count():
            for operation, mode in itertools.product(self._operations, GenerationMode):
                self._send_examples(operation, mode, seed_number=number)
            say(f"  schemathesis: {self._sent} of {requests_count} requests")
            if self._sent >= requests_count:
                return

    @property
    def _sent(self) -> int:
        return self.by_operation.total()

    def _send_examples(self, operation: Any, mode: GenerationMode, *, seed_number: int) -> None:
        @seed(seed_number)
        @settings(
            max_examples=ROUND,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def send(case: Case) -> None:
            self._send(case, is_right=mode is GenerationMode.POSITIVE)

        with contextlib.suppress(Unsatisfiable):  # an operation without parameters can not be asked wrongly
            send()

    def _send(self, case: Case, *, is_right: bool) -> None:
        self.by_operation[case.operation.label] += 1
        if is_right and isinstance(case.body, dict) and self._sent % RIGHT_EVERY == 0:
            case.body = self._credentials
        fixed = self._sent % SAME_ADDRESS_EVERY == 0
        if is_right and fixed and isinstance(case.body, dict) and case.body is not self._credentials:
            case.body = case.body | {"username": "throttled@example.org"}
        address = "198.51.100.1" if fixed else f"10.{self._random.randrange(256)}.{self._random.randrange(256)}.1"
        what = f"{case.method} {case.formatted_path} | {case.media_type} | {case.headers!r} | {case.body!r}"
        try:
            headers = {"X-Forwarded-For": address}
            response = case.call(
                base_url=self._url, session=self._session, headers=headers, verify=self._session.verify, timeout=20
            )
        except requests.Timeout:
            self._tally.note("schemathesis", what, Answer(HUNG), expected=())
        except requests.RequestException:
            self._tally.note("schemathesis", what, Answer(CLOSED), expected=())
        else:
            content_type = response.headers.get("content-type", [""])[0]
            answer = Answer(response.status_code, response.content or b"", content_type)
            self._tally.note("schemathesis", what, answer, expected=range(200, 500))
            self._validate(case, response, what)

    def _validate(self, case: Case, response: Any, what: str) -> None:
        try:
            case.validate_response(response, checks=CHECKS)
        except schemathesis.FailureGroup as group:
            for failure in group.exceptions:
                self.nonconforming[type(failure).__name__] += 1
                if len(self.samples) < 10:
                    self.samples.append(f"{type(failure).__name__}: {what[:300]} -> {response.status_code}")
