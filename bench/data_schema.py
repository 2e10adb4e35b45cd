"""schemathesis on the data endpoint's own OpenAPI document: whether every answer is one that it promises."""

import contextlib
import itertools
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
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from bench.data_abuse import question
from bench.data_client import ENTITIES
from bench.data_tally import Asked, Expected, Reader, Reply
from bench.product import say
from bench.tally import CLOSED, HUNG
from onlooker.testing import Stack

ANSWER_LIMIT_S = 20.0
STRANGERS_EVERY = 10
"""One request in so many comes without a token."""
ROUND = 25
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
EXPECTED: Expected = {
    **{200: ("",), 304: ("",), 400: ("bad_request",), 401: ("missing_token", "invalid_jwt")},
    **{404: ("not_found",), 405: ("method_not_allowed",)},
}


class DataSchema:
    """Goes through every operation of the document until enough was sent."""

    def __init__(self, stack: Stack, reader: Reader) -> None:
        self._url = stack.data_url
        self._reader = reader
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.verify = stack.ca_file
        document = self._session.get(f"{self._url}/openapi.json", timeout=ANSWER_LIMIT_S).json()
        schema = schemathesis.openapi.from_dict(document)
        self._operations = [found.ok() for found in schema.get_all_operations()]
        self.by_operation: Counter[str] = Counter()
        self.nonconforming: Counter[str] = Counter()
        self.samples: list[str] = []

    def run(self, *, requests_count: int, seed_number: int) -> None:
        goal = self._sent + requests_count
        for number in itertools.count(seed_number):
            for operation, mode in itertools.product(self._operations, GenerationMode):
                self._send_examples(operation, mode, seed_number=number)
            say(f"  schemathesis: {requests_count - goal + self._sent} of {requests_count} requests")
            if self._sent >= goal:
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
        is_asked = case.formatted_path.startswith(ENTITIES)
        if is_right and is_asked and self._sent % 2:
            self._ask_for_people(case)
        whose = self._sent % 2
        is_stranger = self._sent % STRANGERS_EVERY == 0
        headers = {} if is_stranger else {"Authorization": f"Bearer {self._reader.tokens[whose]}"}
        what = f"{case.method} {case.formatted_path} | {case.query!r} | {case.headers!r}"
        marked = self._reader.streams[whose] if is_asked and not is_stranger else None
        asked = Asked("schemathesis", what, EXPECTED, marked)
        self._reader.tally.judge(asked, self._call(case, headers, what))

    def _ask_for_people(self, case: Case) -> None:
        """Random moments are hardly ever those at which there was somebody."""
        right = question(self._reader)
        case.query = dict(case.query or {}) | {name: right[name] for name in ("from_date", "to_date")}

    def _call(self, case: Case, headers: dict[str, str], what: str) -> Reply:
        verify = self._session.verify
        try:
            response = case.call(
                base_url=self._url, session=self._session, headers=headers, verify=verify, timeout=ANSWER_LIMIT_S
            )
        except requests.Timeout:
            return Reply(HUNG)
        except requests.RequestException:
            return Reply(CLOSED)
        self._validate(case, response, what)
        named = {name.lower(): values[0] for name, values in response.headers.items()}
        return Reply(response.status_code, response.content or b"", named.get("content-type", ""), headers=named)

    def _validate(self, case: Case, response: Any, what: str) -> None:
        try:
            case.validate_response(response, checks=CHECKS)
        except schemathesis.FailureGroup as group:
            for failure in group.exceptions:
                self.nonconforming[type(failure).__name__] += 1
                if len(self.samples) < 10:
                    self.samples.append(f"{type(failure).__name__}: {what[:300]} -> {response.status_code}")
