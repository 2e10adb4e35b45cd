"""schemathesis on the gateway's own OpenAPI document: requests that fit it, and requests that do not."""

import contextlib
from typing import Any

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode

from bench.product import say
from bench.tally import CLOSED, HUNG, Answer, Tally
from onlooker.testing import Stack, TestStream

ANSWER_LIMIT_S = 20.0
STRANGERS_EVERY = 10
"""One request in so many comes without credentials."""
FRAMES_TYPE = "multipart/x-mixed-replace"
REAL_SERVICE = {"name": "dummy", "version": "1"}
"""In requests that fit the document, so that they get further than to `not_found`."""


@schemathesis.serializer(FRAMES_TYPE)
def serialize_frames(context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Whatever was made up, as bytes: frames are no form that schemathesis knows."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


class SchemaFuzz:
    """Goes through every operation of the document, as often as it is told."""

    def __init__(self, stack: Stack, stream: TestStream, tally: Tally) -> None:
        self._url = stack.url
        self._tally = tally
        self._verify = stack.ca_file
        self._auth = stream.auth
        self._session = requests.Session()
        self._session.trust_env = False
        document = self._session.get(f"{self._url}/openapi.json", verify=self._verify, timeout=ANSWER_LIMIT_S)
        schema = schemathesis.openapi.from_dict(document.json())
        self._operations = [found.ok() for found in schema.get_all_operations()]
        self._sent = 0

    def run(self, *, requests_count: int, round_number: int) -> None:
        """Send about so many requests, spread over the operations, each in both modes."""
        share = max(requests_count // (2 * len(self._operations)), 1)
        for number, operation in enumerate(self._operations):
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                self._send_examples(operation, mode, count=share, seed_number=1000 * round_number + number)
            say(f"  schemathesis {number + 1}/{len(self._operations)} {operation.label}: {self._sent} requests")

    def _send_examples(self, operation: Any, mode: GenerationMode, *, count: int, seed_number: int) -> None:
        is_right = mode is GenerationMode.POSITIVE
        fixed = {key: value for key, value in REAL_SERVICE.items() if is_right and f"{{{key}}}" in operation.path}

        @seed(seed_number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode, path_parameters=fixed or None))
        def send(case: Case) -> None:
            self._send(case)

        with contextlib.suppress(Unsatisfiable):  # an operation without parameters can not be asked wrongly
            send()

    def _send(self, case: Case) -> None:
        self._sent += 1
        auth = None if self._sent % STRANGERS_EVERY == 0 else self._auth
        what = f"{case.method} {case.formatted_path} | {case.media_type} | {case.body!r}"
        frames = {"Content-Type": f"{FRAMES_TYPE}; boundary=myboundary"} if case.media_type == FRAMES_TYPE else None
        try:
            response = case.call(
                base_url=self._url,
                session=self._session,
                headers=frames,
                auth=auth,
                verify=self._verify,
                timeout=ANSWER_LIMIT_S,
            )
        except requests.Timeout:
            answer = Answer(HUNG)
        except requests.RequestException:
            answer = Answer(CLOSED)
        else:
            content_type = response.headers.get("content-type", [""])[0]
            answer = Answer(response.status_code, response.content or b"", content_type)
        self._tally.note("schemathesis", what, answer, expected=range(200, 500))
