"""Webhooks of the FAKE of Stripe: kept for tests, and delivered if there is a console."""

import hashlib
import hmac
import json
import secrets
import ssl
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import Any

TRIES = 20
WAIT_S = 0.5


@dataclass(frozen=True)
class Delivery:
    """A signed event."""

    body: bytes
    signature: str

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.body)
        return event


class FakeWebhooks:
    """Takes events that localstripe signed, signs those of the fake itself, and delivers until accepted."""

    def __init__(self) -> None:
        self.secret = f"whsec_{secrets.token_hex(16)}"
        self.deliveries: list[Delivery] = []
        self.refusals: list[int] = []
        """Statuses of the console's responses other than 2xx."""
        self._target: tuple[str, ssl.SSLContext] | None = None
        self._closed = threading.Event()

    def deliver_to(self, url: str, *, ca_file: str) -> None:
        """From now on; the address of /billing/webhook/."""
        self._target = url, ssl.create_default_context(cafile=ca_file)

    def take(self, body: bytes, signature: str) -> None:
        delivery = Delivery(body, signature)
        self.deliveries.append(delivery)
        if self._target:
            threading.Thread(target=self._deliver, args=(delivery, *self._target), daemon=True).start()

    def tell(self, kind: str, about: dict[str, Any]) -> Delivery:
        """An event of the fake itself, for what localstripe does not report."""
        delivery = self.sign(kind, about)
        self.take(delivery.body, delivery.signature)
        return delivery

    def sign(self, kind: str, about: dict[str, Any], *, at: int | None = None) -> Delivery:
        at = at or int(time.time())
        event = {"id": f"evt_fake_{secrets.token_hex(8)}", "object": "event", "type": kind, "created": at}
        body = json.dumps(event | {"data": {"object": about}}).encode()
        return Delivery(body, self.signature_of(body, at=at))

    def signature_of(self, body: bytes, *, at: int) -> str:
        signed = hmac.new(self.secret.encode(), b"%d." % at + body, hashlib.sha256)
        return f"t={at},v1={signed.hexdigest()}"

    def of_kind(self, prefix: str) -> list[Delivery]:
        return [one for one in self.deliveries if one.event["type"].startswith(prefix)]

    def wait_for(self, kind: str, *, about: str, limit_s: float = 10.0) -> Delivery:
        """localstripe takes a second to send one; `about` is the id of its object or of its customer."""
        give_up_at = time.monotonic() + limit_s
        while time.monotonic() < give_up_at:
            for one in self.of_kind(kind):
                thing = one.event["data"]["object"]
                if about in (thing.get("id"), thing.get("customer")):
                    return one
            time.sleep(0.05)
        raise TimeoutError(f"no {kind} about {about} came")

    def close(self) -> None:
        self._closed.set()

    def _deliver(self, delivery: Delivery, url: str, trust: ssl.SSLContext) -> None:
        headers = {"Content-Type": "application/json", "Stripe-Signature": delivery.signature}
        for _ in range(TRIES):
            request = urllib.request.Request(url, delivery.body, headers)  # noqa: S310
            try:
                with urllib.request.urlopen(request, timeout=30, context=trust):  # noqa: S310
                    return
            except urllib.error.HTTPError as error:
                self.refusals.append(error.code)
                error.close()
            except OSError:
                self.refusals.append(0)
            if self._closed.wait(WAIT_S):
                return
