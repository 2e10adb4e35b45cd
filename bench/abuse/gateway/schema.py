"""Schemathesis on the gateway's own OpenAPI document: no answer is a server error."""

from typing import Any

import schemathesis
from schemathesis import GenerationMode

from bench.abuse.openapi import OpenApiFuzz, Request, content_type_of
from bench.lib.product import say
from onlooker.proof.questions.tally import AnswerTally
from onlooker.proof.questions.wire import WireAnswer
from testkit import Stack, TestStream

STRANGERS_EVERY = 10
"""One request in so many comes without credentials."""
FRAMES_TYPE = "multipart/x-mixed-replace"
REAL_SERVICE = {"name": "dummy", "version": "1"}
"""In requests that fit the document, so that they get further than to `not_found`."""


@schemathesis.serializer(FRAMES_TYPE)
def serialize_frames(context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Whatever was generated, as bytes: frames are no form that Schemathesis knows."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


class GatewaySchema(OpenApiFuzz):
    """Goes through every operation once a run."""

    def __init__(self, stack: Stack, stream: TestStream, tally: AnswerTally) -> None:
        super().__init__(stack.url, ca_file=stack.ca_file)
        self._tally = tally
        self._auth = stream.auth

    def run(self, *, requests_count: int, round_number: int) -> None:
        """Send about so many requests, spread over the operations, each in both modes."""
        share = max(requests_count // (2 * len(self.operations)), 1)
        for number, operation in enumerate(self.operations):
            real = {key: value for key, value in REAL_SERVICE.items() if f"{{{key}}}" in operation.path}
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                self.send_examples(
                    operation,
                    mode,
                    count=share,
                    seed_number=1000 * round_number + number,
                    path_parameters=real if real and mode is GenerationMode.POSITIVE else None,
                )
            say(f"  schemathesis {number + 1}/{len(self.operations)} {operation.label}: {self.sent} requests")

    def send(self, case: Request, *, is_right: bool) -> None:
        auth = None if self.sent % STRANGERS_EVERY == 0 else self._auth
        what = f"{case.method} {case.formatted_path} | {case.media_type} | {case.body!r}"
        frames = {"Content-Type": f"{FRAMES_TYPE}; boundary=myboundary"} if case.media_type == FRAMES_TYPE else None
        response = self.call(case, what, headers=frames, auth=auth)
        if isinstance(response, int):
            answer = WireAnswer(response)
        else:
            answer = WireAnswer(response.status_code, response.content or b"", content_type_of(response))
        self._tally.note("schemathesis", what, answer, expected=range(200, 500))
