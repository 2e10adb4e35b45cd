"""Asks the data endpoint 10,000 hostile questions: none may break it, and none may tell another stream's number."""

import secrets
import ssl
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from onlooker.proof.check import Check, Finding
from onlooker.proof.questions.control import tells_apart
from onlooker.proof.questions.forged_tokens import Forger, forged_scenarios
from onlooker.proof.questions.marked_streams import FEW, MANY, begins_before, mark_stream
from onlooker.proof.questions.parameters import SCENARIOS, Scenario
from onlooker.proof.questions.rotation import RotatingRandom
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import DataRequest, DataTally
from onlooker.proof.questions.wire import ServerAddress
from onlooker.streams.bearer_tokens import REFETCH_EVERY_S
from onlooker.streams.rate_limit import RateLimit

if TYPE_CHECKING:
    from onlooker.proof.installation import Installation

QUESTIONS = 10_000
SENDERS = 6
FORGED_TURNS = 5
"""How often forged tokens have their turn for once of the others: no rate holds them back."""
PACED_S = 105.0
"""After so long, only questions are asked that no rate holds back."""
LIMIT_S = 150.0
RATE_SHARE = 0.9
"""Of what the installation allows a stream: it is not to answer `rate_limited`."""


class QuestionPace:
    """Keeps the questions of a stream below the rate that the data endpoint allows it."""

    def __init__(self, *, per_second: float, burst: int) -> None:
        self._rates = RateLimit(per_second=per_second * RATE_SHARE, burst=max(1, int(burst * RATE_SHARE)))
        self._lock = threading.Lock()

    def wait(self, asked: DataRequest) -> None:
        """A request without a right token waits for nothing."""
        while asked.marked:
            with self._lock:
                wait_s = self._rates.wait_s(asked.marked.stream.id)
            if not wait_s:
                return
            time.sleep(wait_s)


@dataclass(frozen=True)
class Questioning:
    """One run of questions."""

    sender: QuestionSender
    forged: Mapping[str, Scenario]
    seed: str

    def run(self, *, questions: int, paced_s: float, limit_s: float) -> None:
        """All kinds by turns, until enough were asked or the time is up."""
        began, turn, tally = time.monotonic(), 0, self.sender.tally
        while tally.requests < questions and time.monotonic() - began < limit_s:
            is_paced = time.monotonic() - began < paced_s
            self._take_turn(turn, SCENARIOS if is_paced else {})
            turn += 1

    def _take_turn(self, turn: int, paced: Mapping[str, Scenario]) -> None:
        turns = [(name, scenario, turn) for name, scenario in paced.items()]
        for again in range(FORGED_TURNS):
            turns += [(name, scenario, turn * FORGED_TURNS + again) for name, scenario in self.forged.items()]
        with ThreadPoolExecutor(SENDERS) as senders:
            list(senders.map(lambda one: self._ask(*one), turns))

    def _ask(self, name: str, scenario: Scenario, turn: int) -> None:
        scenario(RotatingRandom(f"{self.seed} {name}", turn), self.sender)


def prepare_questions(installation: "Installation") -> Questioning:
    """Two streams of the proof with known people, a token of each, and the key that signs tokens."""
    settings = installation.settings
    begins_ms = begins_before(installation.clock().timestamp())
    streams = [installation.create_stream(reads_expression=True) for _ in range(2)]
    mark = partial(mark_stream, settings, begins_ms=begins_ms)
    marked = mark(streams[0], FEW), mark(streams[1], MANY)
    tokens = installation.bearer_token(streams[0]), installation.bearer_token(streams[1])
    time.sleep(REFETCH_EVERY_S)  # a key that is new may be unknown to the data endpoint until then
    pace = QuestionPace(per_second=settings.data_rate_limit_per_second, burst=settings.data_rate_limit_burst)
    tally = DataTally(data_url=settings.data_url)
    sender = QuestionSender(address_of(installation), marked, tokens, tally, pace.wait)
    return Questioning(sender, forged_scenarios(_forger(tokens)), secrets.token_hex(8))


def address_of(installation: "Installation") -> ServerAddress:
    parts = urlsplit(installation.data_url)
    is_secure = parts.scheme == "https"
    port = parts.port or (443 if is_secure else 80)
    trust = ssl.create_default_context(cafile=installation.trusted_file) if is_secure else None
    return ServerAddress(parts.hostname or "localhost", port, trust)


def _forger(tokens: tuple[str, str]) -> Forger:
    """It signs with the installation's own key: what is refused then is refused for what it says."""
    from cryptography.hazmat.primitives.asymmetric import ec

    from onlooker.console.tokens.models import SigningKey
    from onlooker.console.tokens.signing_keys import signing_key

    kid, known = signing_key()
    public_jwk = SigningKey.objects.get(kid=kid).public_jwk
    return Forger(kid, known, ec.generate_private_key(ec.SECP256R1()), *tokens, public_jwk)


def judge_questions(tally: DataTally, *, is_told_apart: bool) -> list[str]:
    """What is wrong, in sentences."""
    untold = [sign.name for sign in (FEW, MANY) if not tally.telling[sign.name]]
    wrong = {
        f"{tally.server_errors} were answered with a server error": tally.server_errors,
        f"{tally.hung} were not answered": tally.hung,
        f"{tally.unexpected} had an answer that they must not have": tally.unexpected,
        f"{len(tally.leaks)} answers had a number that the token's stream can't have": tally.leaks,
        f"{tally.foreign_links} answers led to another address": tally.foreign_links,
        "the numbers of the proof's two streams can't be told apart": not is_told_apart,
        f"no answer told anything of the proof's stream {' and '.join(untold)}": untold,
    }
    return [sentence for sentence, is_so in wrong.items() if is_so]


def check_questions(installation: "Installation") -> Finding:
    questioning = prepare_questions(installation)
    tally = questioning.sender.tally
    is_told_apart = tells_apart(questioning.sender)
    began = time.monotonic()
    questioning.run(questions=QUESTIONS, paced_s=PACED_S, limit_s=LIMIT_S)
    seconds = round(time.monotonic() - began)
    wrong = judge_questions(tally, is_told_apart=is_told_apart and tells_apart(questioning.sender))
    telling = sum(tally.telling.values())
    return Finding(
        done=f"Gave two streams of the proof people who can't be mistaken for others, and asked the data endpoint "
        f"{tally.requests} questions in {seconds} s: malformed values, ids of other streams, and tokens that were "
        "forged, expired, made for something else or mixed from two, also signed with the installation's own key.",
        found=f"Of {tally.requests} questions, {'; '.join(wrong)}."
        if wrong
        else f"No server error. No token that should open nothing opened anything. {telling} answers told numbers, "
        "each of its own stream alone.",
        ok=not wrong,
        figures={
            "questions": tally.requests,
            "seconds": seconds,
            "seed": questioning.seed,
            "by_kind": dict(sorted(tally.families.items())),
            "by_answer": dict(sorted(tally.codes.items())),
            "told_to_wait": sum(tally.busy.values()),
            "answers_with_numbers": dict(tally.telling),
            "faults": dict(tally.faults),
            "numbers_of_others": len(tally.leaks),
        },
        limits=_limits(tally.requests),
    )


def _limits(asked: int) -> tuple[str, ...]:
    if asked >= QUESTIONS:
        return ()
    return (f"Only {asked} questions could be asked in {LIMIT_S:g} s.",)


CHECK = Check(
    id="questions",
    title="Asks the data endpoint hostile questions",
    promises=("token-for-one-stream", "only-numbers-published"),
    run=check_questions,
)
