"""The console under abuse: what its document promises holds, and guessing gets nobody anywhere."""

import argparse
import ssl
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import httpx2

from bench.abuse.console.guesses import (
    KNOWN,
    RATIO_HIGHEST,
    RATIO_LOWEST,
    UNKNOWN,
    Guess,
    LoginPage,
    Siege,
    Timed,
    addresses,
    besiege,
    guess_unthrottled,
)
from bench.abuse.console.management import ManagementSchema, create_key, is_still_served
from bench.abuse.console.schema import ConsoleSchema
from bench.abuse.run import conclude_run, count_restarts, failure_reasons, is_unharmed, statuses_of, tally_figures
from bench.lib.product import running_product, say
from onlooker.proof.questions.tally import AnswerTally
from testkit import Stack

REQUESTS_TARGET = 2000
GUESSES = 1000
API_REQUESTS = 5000
LOGIN_PAIRS, TOKEN_PAIRS = 40, 400
EMAILS = {KNOWN: "owner@example.org", UNKNOWN: "nobody@example.org"}
PASSWORD = "a long password that nobody guesses"
SETTINGS = {
    "trusted_proxies": "127.0.0.1",  # so that each guess can come from an address of its own
    "log_level": "info",
    "api_requests_per_minute": "1000000",
    "stripe_secret_key": "sk_test_nobody",  # so that the webhook is there; nothing listens at the address
    "stripe_webhook_secret": "whsec_nobody",
    "stripe_price": "price_nobody",
    "stripe_api_url": "http://127.0.0.1:9",
}
TOKEN_PATH = "/api-token-authstream/"
FAILURES = ("server_errors", "hung", "unexpected_answers", "nonconforming_answers", "restarts")


@dataclass(frozen=True)
class ConsoleFuzz:
    """One run against one running product."""

    stack: Stack
    client: httpx2.Client
    credentials: dict[str, str]
    tally: AnswerTally

    def token_guess(self) -> Guess:
        def guess(whose: str, address: str) -> httpx2.Response:
            body = self.credentials | {"username": EMAILS[whose], "access_token": "wrong"}
            return self.client.post(TOKEN_PATH, json=body, headers={"X-Forwarded-For": address})

        return guess

    def get_token(self, address: str) -> int:
        answer = self.client.post(TOKEN_PATH, json=self.credentials, headers={"X-Forwarded-For": address})
        return answer.status_code

    def sign_in(self, address: str) -> int:
        """In a browser of its own."""
        with open_console(self.stack) as browser:
            page = LoginPage(browser, EMAILS)
            return page.send(EMAILS[KNOWN], PASSWORD, page.open(), address).status_code


def open_console(stack: Stack) -> httpx2.Client:
    trust = ssl.create_default_context(cafile=stack.ca_file)
    return httpx2.Client(base_url=stack.console_url, verify=trust, timeout=30, trust_env=False)


def make_owner(stack: Stack) -> dict[str, str]:
    """An account with a verified address and a password, hashed as slowly as in earnest; a stream of it."""
    command = [sys.executable, "-m", "onlooker", "account", "create", EMAILS[KNOWN]]
    subprocess.run(command, input=f"{PASSWORD}\n", text=True, check=True, env=stack.environment, stdout=sys.stderr)
    stream = stack.create_stream()
    return {"username": EMAILS[KNOWN], "client_id": stream.client_id, "access_token": stream.access_token}


def measure_logins(fuzz: ConsoleFuzz, *, guesses: int) -> tuple[Timed, Siege]:
    source = addresses()
    page = LoginPage(fuzz.client, EMAILS)
    guess = page.guess(page.open())
    guess_unthrottled(guess, pairs=3, source=source)
    unthrottled = guess_unthrottled(guess, pairs=LOGIN_PAIRS, source=source)
    say(f"  logins, each from elsewhere: ratio {unthrottled.ratio}")
    siege = besiege(guess, fuzz.sign_in, guesses=guesses, source=source)
    say(f"  logins from one address: {siege.statuses}")
    return unthrottled, siege


def measure_tokens(fuzz: ConsoleFuzz, *, guesses: int) -> tuple[Timed, Siege]:
    source = addresses()
    guess_unthrottled(fuzz.token_guess(), pairs=20, source=source)
    unthrottled = guess_unthrottled(fuzz.token_guess(), pairs=TOKEN_PAIRS, source=source)
    say(f"  tokens, each from elsewhere: ratio {unthrottled.ratio}")
    siege = besiege(fuzz.token_guess(), fuzz.get_token, guesses=guesses, source=source)
    say(f"  tokens from one address: {siege.statuses}")
    return unthrottled, siege


def figures_of(name: str, unthrottled: Timed, siege: Siege) -> dict[str, Any]:
    return {
        f"{name}_guesses": siege.statuses[KNOWN].total(),
        f"{name}_throttled": siege.statuses[KNOWN][429],
        f"{name}_looked_at": siege.looked_at,
        f"{name}_looked_at_limit": siege.looked_at_limit,
        f"{name}_without_retry_after": siege.without_retry_after,
        f"{name}_owner_from_elsewhere": siege.owner_statuses,
        f"{name}_statuses": {whose: dict(counted) for whose, counted in siege.statuses.items()},
        f"{name}_unthrottled_statuses": {whose: dict(counted) for whose, counted in unthrottled.statuses.items()},
        **unthrottled.figures(f"{name}_unthrottled"),
        **siege.timed.figures(f"{name}_throttled"),
    }


def is_guessing_hopeless(name: str, figures: dict[str, Any], *, wrong: int, right: int) -> bool:
    """`wrong` is how a looked-at guess is answered, `right` how the owner is."""
    expected = {whose: {wrong: count} for whose, count in ((KNOWN, pairs_of(name)), (UNKNOWN, pairs_of(name)))}
    return (
        figures[f"{name}_looked_at"] <= figures[f"{name}_looked_at_limit"]
        and figures[f"{name}_throttled"] > 0
        and figures[f"{name}_without_retry_after"] == 0
        and figures[f"{name}_owner_from_elsewhere"] == [right, right]
        and figures[f"{name}_unthrottled_statuses"] == expected
        and all(set(counted) <= {wrong, 429} for counted in figures[f"{name}_statuses"].values())
        and (are_times_alike(name, figures) or not figures["times_are_judged"])
    )


def are_times_alike(name: str, figures: dict[str, Any]) -> bool:
    ratios = [figures[f"{name}_{kind}_ratio"] for kind in ("unthrottled", "throttled")]
    return all(RATIO_LOWEST <= ratio <= RATIO_HIGHEST for ratio in ratios)


def pairs_of(name: str) -> int:
    return {"logins": LOGIN_PAIRS, "tokens": TOKEN_PAIRS}[name]


def measure(fuzz: ConsoleFuzz, *, requests_count: int, guesses: int, api_requests: int) -> dict[str, Any]:
    """Every figure with its target; `ok` is computed from them."""
    children = fuzz.stack.children()
    schema = ConsoleSchema(fuzz.stack, fuzz.credentials, fuzz.tally)
    schema.run_rounds(requests_count=requests_count)
    logins = figures_of("logins", *measure_logins(fuzz, guesses=guesses))
    tokens = figures_of("tokens", *measure_tokens(fuzz, guesses=guesses))
    key = create_key(fuzz.stack, EMAILS[KNOWN])
    management = ManagementSchema(fuzz.stack, key, fuzz.tally)
    management.run_rounds(requests_count=api_requests)
    for line in (*schema.samples, *management.samples):
        say(line)
    figures: dict[str, Any] = {
        **tally_figures(fuzz.tally, target=requests_count + api_requests),
        "operations": dict(schema.by_operation + management.by_operation),
        "api_requests": management.sent,
        "api_requests_target": api_requests,
        "api_serves_after": is_still_served(fuzz.client, key),
        "nonconforming_answers": dict(schema.nonconforming + management.nonconforming),
        "restarts": count_restarts(fuzz.stack, children),
        "statuses": statuses_of(fuzz.tally),
        "guesses_target": guesses,
        "times_are_judged": guesses >= GUESSES,  # a short run tells them; only the full one is a verdict on them
        **logins,
        **tokens,
    }
    return {"ok": is_ok(figures)} | figures


def is_ok(figures: dict[str, Any]) -> bool:
    return (
        is_unharmed(figures, FAILURES)
        and figures["api_requests"] >= figures["api_requests_target"]
        and figures["api_serves_after"]
        and {"200", "400", "401", "429"} <= figures["statuses"].keys()
        and all(figures[f"{name}_guesses"] >= figures["guesses_target"] for name in ("logins", "tokens"))
        and is_guessing_hopeless("logins", figures, wrong=200, right=302)
        and is_guessing_hopeless("tokens", figures, wrong=401, right=200)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("requests", nargs="?", type=int, default=REQUESTS_TARGET, help="made from the document")
    parser.add_argument("guesses", nargs="?", type=int, default=GUESSES, help="wrong logins and wrong token requests")
    parser.add_argument("api", nargs="?", type=int, default=API_REQUESTS, help="to the management interface")
    arguments = parser.parse_args()
    with running_product(**SETTINGS) as stack, open_console(stack) as client:
        fuzz = ConsoleFuzz(stack, client, make_owner(stack), AnswerTally())
        figures = measure(
            fuzz, requests_count=arguments.requests, guesses=arguments.guesses, api_requests=arguments.api
        )
        reasons = failure_reasons(stack)
    conclude_run(figures, fuzz.tally.samples, reasons)


if __name__ == "__main__":
    main()
