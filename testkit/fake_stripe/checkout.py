"""A FAKE of Stripe's Checkout in set-up mode, which localstripe lacks: sessions, and the page for cards."""

import html
import json
import secrets
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from testkit.fake_stripe.server import FakeRequest, FakeResponse

if TYPE_CHECKING:
    from testkit.fake_stripe.stripe import FakeStripe

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>FAKE checkout</title></head><body>
<h1>THIS IS A FAKE OF STRIPE'S CHECKOUT</h1>
<p>It is for tests. Never enter a real card here. 4242424242424242 is accepted.</p>
<p role="alert">{complaint}</p>
<form method="post">
<p><label>Card number <input name="number" inputmode="numeric" required value=""></label></p>
<p><label>Month <input name="exp_month" value="12"></label> <label>Year <input name="exp_year" value="2034"></label>
<label>CVC <input name="cvc" value="123"></label></p>
<p><button type="submit">Save card</button></p>
</form>
<p><a href="{cancel_url}">Back</a></p>
</body></html>
"""


class FakeCheckout:
    """Sessions by id. Entering a card creates a payment method at localstripe and sends a webhook, as Stripe does."""

    def __init__(self, fake: "FakeStripe") -> None:
        self._fake = fake
        self.sessions: dict[str, dict[str, Any]] = {}

    def answer(self, asked: FakeRequest) -> FakeResponse:
        """`POST /v1/checkout/sessions`, `GET /v1/checkout/sessions/<id>` and `POST .../<id>/expire`."""
        path, _, query = asked.path.partition("?")
        if asked.method == "POST" and not path.endswith("/expire"):
            return _json(self._open(asked.form))
        session = self.sessions.get(path.removesuffix("/expire").rpartition("/")[2])
        if session is None:
            return _json({"error": {"type": "invalid_request_error", "code": "resource_missing"}}, 404)
        if asked.method == "POST":
            return self._expire(session)
        if "setup_intent" in query:
            intent = self._fake.call("GET", f"/v1/setup_intents/{session['setup_intent']}")
            return _json(session | {"setup_intent": intent})
        return _json(session)

    def _open(self, form: dict[str, str]) -> dict[str, Any]:
        assert form["mode"] == "setup"
        assert form["allowed_payment_method_types[0]"] == "card"
        intent = self._fake.call("POST", "/v1/setup_intents", {"customer": form["customer"]})
        name = f"cs_test_fake_{secrets.token_hex(12)}"
        session: dict[str, Any] = {"id": name, "object": "checkout.session", "mode": "setup", "status": "open"}
        session |= {"customer": form["customer"], "setup_intent": intent["id"], "url": f"{self._fake.url}/pay/{name}"}
        session |= {"success_url": form["success_url"], "cancel_url": form["cancel_url"], "metadata": {}}
        self.sessions[name] = session
        return session

    def _expire(self, session: dict[str, Any]) -> FakeResponse:
        if session["status"] != "open":
            return _json({"error": {"type": "invalid_request_error"}}, 400)
        session["status"] = "expired"
        return _json(session)

    def show_page(self, asked: FakeRequest) -> FakeResponse:
        """The page with the form, and its submission."""
        session = self.sessions.get(urlsplit(asked.path).path.rpartition("/")[2])
        if session is None:
            return _page("There is no such session.", "/", status=404)
        if asked.method == "GET":
            return _page("", session["cancel_url"])
        try:
            self.enter_card(session["id"], **asked.form)
        except ValueError:
            return _page("Your card was declined.", session["cancel_url"], status=402)
        return _redirect(session["success_url"])

    def enter_card(
        self, name: str, *, number: str, exp_month: str = "12", exp_year: str = "2034", cvc: str = "123"
    ) -> None:
        """What a person does on the page; raises ValueError if the card is declined."""
        session = self.sessions[name]
        confirm = f"/v1/setup_intents/{session['setup_intent']}/confirm"
        card = {"number": number.replace(" ", ""), "exp_month": exp_month, "exp_year": exp_year, "cvc": cvc}
        intent = self._fake.call("POST", confirm, {"payment_method_data": {"type": "card", "card": card}})
        if intent["status"] == "requires_action":  # 3-D Secure: the fake's person always says yes
            intent = self._fake.call("POST", confirm, {"use_stripe_sdk": "true"})
        method = intent["payment_method"]
        self._fake.call("POST", f"/v1/payment_methods/{method}/attach", {"customer": session["customer"]})
        session["status"] = "complete"
        self._fake.webhooks.tell("checkout.session.completed", session)


def _json(values: dict[str, Any], status: int = 200) -> FakeResponse:
    return FakeResponse(status, json.dumps(values).encode())


def _page(complaint: str, cancel_url: str, *, status: int = 200) -> FakeResponse:
    page = _PAGE.format(complaint=html.escape(complaint), cancel_url=html.escape(cancel_url))
    return FakeResponse(status, page.encode(), {"Content-Type": "text/html; charset=utf-8"})


def _redirect(url: str) -> FakeResponse:
    return FakeResponse(303, b"", {"Location": url})
