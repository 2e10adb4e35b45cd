"""A FAKE of Stripe for tests: localstripe, and in front of it what localstripe lacks. No money, no real cards.

localstripe (a separate program, never imported) has customers, payment methods, subscriptions, invoices and signed
webhooks. The server here passes everything on to it unchanged, except that it
- answers Checkout itself (checkout.py) and reads prices as localstripe's plans,
- repeats the answer for an idempotency key, as Stripe does,
- can be told to fail, and keeps or delivers the webhooks.
"""

import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote, urlencode

from testkit.fake_stripe.checkout import FakeCheckout
from testkit.fake_stripe.server import FakeRequest, FakeResponse, serve_fake
from testkit.fake_stripe.webhooks import FakeWebhooks
from testkit.ports import free_ports

SECRET_KEY = "sk_test_fake_4eC39HqLyjWDarjtT1zdp7dc"  # noqa: S105
PRICE, YEARLY_PRICE = "price_enterprise", "price_yearly"
START_LIMIT_S = 30.0


@dataclass(frozen=True)
class Breakage:
    """`down`: no effect, no response. `error`: no effect, status 500. `lost`: done, but the response is lost."""

    how: str
    method: str
    path: str

    def hits(self, asked: FakeRequest) -> bool:
        return self.method in ("", asked.method) and asked.path.startswith(self.path)


class FakeStripe:
    """The fake as tests use it."""

    def __init__(self, port: int, localstripe_port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.webhooks = FakeWebhooks()
        self.checkout = FakeCheckout(self)
        self.asked: list[FakeRequest] = []
        self._localstripe_port = localstripe_port
        self._breakages: list[Breakage] = []
        self._answers: dict[str, FakeResponse] = {}
        self._locks: dict[str, threading.Lock] = defaultdict(threading.Lock)

    @property
    def settings(self) -> dict[str, str]:
        """Settings that make Onlooker use this fake."""
        return {
            "stripe_secret_key": SECRET_KEY,
            "stripe_webhook_secret": self.webhooks.secret,
            "stripe_price": PRICE,
            "stripe_api_url": self.url,
            "stripe_checkout_url": self.url,
        }

    def break_at(self, how: str, *, method: str = "", path: str = "") -> None:
        """From now on, for requests with this method and a path that starts like this."""
        self._breakages.append(Breakage(how, method, path))

    def mend(self) -> None:
        self._breakages.clear()

    def forget_keys(self) -> None:
        """As Stripe does after a day: the same idempotency key is a new request."""
        self._answers.clear()

    def forget(self) -> None:
        """Reset: no customers, no events, nothing broken; with the prices of an enterprise stream."""
        self.mend()
        self.forget_keys()
        for memory in (self.asked, self.checkout.sessions, self.webhooks.deliveries):
            memory.clear()
        self.call("DELETE", "/_config/data")
        for name, interval, amount in ((PRICE, "month", 2500), (YEARLY_PRICE, "year", 25000)):
            plan = {"id": name, "amount": amount, "currency": "eur", "interval": interval}
            self.call("POST", "/v1/plans", plan | {"product": {"name": "Enterprise stream"}})

    def count(self, method: str, path: str) -> int:
        return sum(one.method == method and one.path.partition("?")[0] == path for one in self.asked)

    def answer(self, asked: FakeRequest) -> FakeResponse | None:
        """None closes the connection."""
        self.asked.append(asked)
        broken = next((one for one in self._breakages if one.hits(asked)), None)
        if broken and broken.how == "down":
            return None
        with self._locks[asked.key or str(id(asked))]:
            answer = self._answers.get(asked.key)
            if answer is None and broken and broken.how == "error":
                answer = FakeResponse(
                    500, b'{"error": {"type": "api_error", "message": "The fake was told to break."}}'
                )
            answer = answer or self._do(asked)
            if asked.key:
                self._answers[asked.key] = answer
        return None if broken and broken.how == "lost" else answer

    def _do(self, asked: FakeRequest) -> FakeResponse:
        path = asked.path.partition("?")[0]
        if path.startswith("/v1/checkout/sessions"):
            return self.checkout.answer(asked)
        if path.startswith("/v1/prices/"):
            return self._read_price(path)
        if path == "/v1/subscriptions" and asked.method == "POST":
            renamed = {name.replace("[price]", "[plan]"): value for name, value in asked.form.items()}
            return self.pass_on("POST", path, urlencode(renamed).encode())
        return self.pass_on(asked.method, asked.path, asked.body)

    def _read_price(self, path: str) -> FakeResponse:
        answer = self.pass_on("GET", path.replace("prices", "plans"), b"")
        if answer.status != 200:
            return answer
        plan = answer.json()
        recurring = {"interval": plan["interval"], "interval_count": plan["interval_count"]}
        price = {"id": plan["id"], "object": "price", "currency": plan["currency"], "recurring": recurring}
        price |= {"unit_amount": plan["amount"], "unit_amount_decimal": str(plan["amount"])}
        return FakeResponse(200, json.dumps(price).encode())

    def call(self, method: str, path: str, values: dict[str, Any] | None = None) -> Any:
        """Call localstripe from a test; raises ValueError if it refuses."""
        answer = self.pass_on(method, path, json.dumps(values).encode() if values else b"", kind="application/json")
        if answer.status != 200:
            raise ValueError(answer.body.decode())
        return answer.json() if answer.body else None

    def pass_on(
        self, method: str, path: str, body: bytes, *, kind: str = "application/x-www-form-urlencoded"
    ) -> FakeResponse:
        connection = HTTPConnection("127.0.0.1", self._localstripe_port, timeout=10)
        try:
            headers = {"Authorization": f"Bearer {SECRET_KEY}"} | ({"Content-Type": kind} if body else {})
            connection.request(method, quote(path, safe="/?&=[]%._-+"), body=body or None, headers=headers)
            answer = connection.getresponse()
            return FakeResponse(answer.status, answer.read())
        finally:
            connection.close()


@contextmanager
def running_fake_stripe() -> Iterator[FakeStripe]:
    """localstripe and the server in front of it, with the price of an enterprise stream: 25 EUR a month."""
    port, localstripe_port = free_ports(2)
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "localstripe", "--port", str(localstripe_port), "--from-scratch"],
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        fake = FakeStripe(port, localstripe_port)
        try:
            _await_localstripe(f"http://127.0.0.1:{localstripe_port}/js.stripe.com/v3/")
            with serve_fake(fake, port):
                hook = {"url": f"{fake.url}/_fake/webhooks", "secret": fake.webhooks.secret}
                fake.call("POST", "/_config/webhooks/front", hook)
                fake.forget()
                yield fake
        finally:
            process.terminate()
            process.wait()
            fake.webhooks.close()


def _await_localstripe(url: str) -> None:
    give_up_at = time.monotonic() + START_LIMIT_S
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310
                return
        except OSError:
            if time.monotonic() > give_up_at:
                raise
            time.sleep(0.1)
