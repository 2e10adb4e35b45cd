"""Schemathesis on the data endpoint's own OpenAPI document: whether every answer is one that it promises."""

from bench.abuse.openapi import CONFORMANCE, OpenApiFuzz, Request
from onlooker.proof.questions.parameters import ENTITIES, question
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import DataRequest, Expected
from onlooker.proof.questions.wire import DataReply
from testkit import Stack

STRANGERS_EVERY = 10
"""One request in so many comes without a token."""
EXPECTED: Expected = {
    **{200: ("",), 304: ("",), 400: ("bad_request",), 401: ("missing_token", "invalid_jwt")},
    **{404: ("not_found",), 405: ("method_not_allowed",)},
}


class DataSchema(OpenApiFuzz):
    """Goes through every operation of the document until enough was sent."""

    checks = CONFORMANCE

    def __init__(self, stack: Stack, reader: QuestionSender) -> None:
        super().__init__(stack.data_url, ca_file=stack.ca_file)
        self._reader = reader

    def send(self, case: Request, *, is_right: bool) -> None:
        is_asked = case.formatted_path.startswith(ENTITIES)
        if is_right and is_asked and self.sent % 2:
            self._ask_for_people(case)
        whose = self.sent % 2
        is_stranger = self.sent % STRANGERS_EVERY == 0
        headers = {} if is_stranger else {"Authorization": f"Bearer {self._reader.tokens[whose]}"}
        what = f"{case.method} {case.formatted_path} | {case.query!r} | {case.headers!r}"
        marked = self._reader.streams[whose] if is_asked and not is_stranger else None
        asked = DataRequest("schemathesis", what, EXPECTED, marked)
        self._reader.tally.judge(asked, self._reply(case, headers, what))

    def _ask_for_people(self, case: Request) -> None:
        """Random moments are hardly ever those at which there was somebody."""
        right = question(self._reader)
        case.query = dict(case.query or {}) | {name: right[name] for name in ("from_date", "to_date")}

    def _reply(self, case: Request, headers: dict[str, str], what: str) -> DataReply:
        response = self.call(case, what, headers=headers)
        if isinstance(response, int):
            return DataReply(response)
        named = {name.lower(): values[0] for name, values in response.headers.items()}
        return DataReply(response.status_code, response.content or b"", named.get("content-type", ""), headers=named)
