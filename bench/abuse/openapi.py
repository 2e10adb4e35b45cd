"""Schemathesis on a server's own OpenAPI document: requests that fit it, and requests that do not."""

import contextlib
import itertools
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.core.errors import InvalidSchema
from schemathesis.core.failures import FailureGroup
from schemathesis.core.result import Err, Result
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from bench.lib.product import say
from onlooker.proof.questions.wire import CLOSED, HUNG

ANSWER_LIMIT_S = 20.0
ROUND = 25
"""Requests of one kind to one operation before the next has its turn."""
SAMPLES_KEPT = 10

Request = Case[Any]
Check = Callable[..., bool | None]
CONFORMANCE: tuple[Check, ...] = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)
"""Whether an answer is one that the document promises."""


class OpenApiFuzz(ABC):
    """Goes through every operation of a document; what is sent and how it is judged is for the subclass to say."""

    checks: ClassVar[Sequence[Check]] = ()

    def __init__(self, url: str, *, ca_file: str, document_path: str = "/openapi.json") -> None:
        self._url = url
        self._ca_file = ca_file
        self._session = requests.Session()
        self._session.trust_env = False
        document = self._session.get(f"{url}{document_path}", verify=ca_file, timeout=ANSWER_LIMIT_S)
        schema = schemathesis.openapi.from_dict(document.json())
        self.operations: list[Any] = [_operation(found) for found in schema.get_all_operations()]
        self.by_operation: Counter[str] = Counter()
        self.nonconforming: Counter[str] = Counter()
        self.samples: list[str] = []

    @property
    def sent(self) -> int:
        return self.by_operation.total()

    def run_rounds(self, *, requests_count: int, seed_number: int = 0) -> None:
        """Send so many requests at least, round after round over all operations."""
        goal = self.sent + requests_count
        for number in itertools.count(seed_number):
            for operation, mode in itertools.product(self.operations, GenerationMode):
                self.send_examples(operation, mode, count=ROUND, seed_number=number)
            say(f"  schemathesis: {requests_count - goal + self.sent} of {requests_count} requests")
            if self.sent >= goal:
                return

    def send_examples(
        self,
        operation: Any,
        mode: GenerationMode,
        *,
        count: int,
        seed_number: int,
        path_parameters: Mapping[str, str] | None = None,
    ) -> None:
        fixed = {} if path_parameters is None else {"path_parameters": dict(path_parameters)}

        @seed(seed_number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode, **fixed))
        def send(case: Request) -> None:
            self.by_operation[case.operation.label] += 1
            self.send(case, is_right=mode is GenerationMode.POSITIVE)

        with contextlib.suppress(Unsatisfiable):  # an operation without parameters cannot be asked wrongly
            send()

    @abstractmethod
    def send(self, case: Request, *, is_right: bool) -> None:
        """Send one request, which fits the document if it is right, and judge the answer."""

    def call(
        self, case: Request, what: str, *, headers: dict[str, str] | None = None, auth: tuple[str, str] | None = None
    ) -> Response | int:
        """The answer, checked against the document; or HUNG or CLOSED."""
        try:
            response = case.call(
                base_url=self._url,
                session=self._session,
                headers=headers,
                auth=auth,
                verify=self._ca_file,
                timeout=ANSWER_LIMIT_S,
            )
        except requests.Timeout:
            return HUNG
        except requests.RequestException:
            return CLOSED
        self._validate(case, response, what)
        return response

    def _validate(self, case: Request, response: Response, what: str) -> None:
        if not self.checks:
            return
        try:
            case.validate_response(response, checks=list(self.checks))
        except FailureGroup as group:
            for failure in group.exceptions:
                self.nonconforming[type(failure).__name__] += 1
                if len(self.samples) < SAMPLES_KEPT:
                    self.samples.append(f"{type(failure).__name__}: {what[:300]} -> {response.status_code}")


def _operation(found: Result[Any, InvalidSchema]) -> Any:
    if isinstance(found, Err):
        raise found.err()
    return found.ok()


def content_type_of(response: Response) -> str:
    return response.headers.get("content-type", [""])[0]
