"""Where Stripe tells us that something happened: verified, written down once, then looked after."""

import json
import logging
import re
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from onlooker.console.billing.access import with_billing
from onlooker.console.billing.line import TillError
from onlooker.console.billing.models import Customer, Event
from onlooker.console.billing.settling import settle_customer
from onlooker.errors import Problem, bad_request, overloaded
from onlooker.logs import fields

log = logging.getLogger(__name__)

TOLERANCE_S = 300
"""How old a signature may be."""
TOLD_OF = ("checkout.session.", "customer.", "invoice.", "payment_method.", "setup_intent.")
"""What begins so may change a subscription or its card; the rest is not ours."""


@csrf_exempt
@require_POST
@with_billing
def take_event(request: HttpRequest) -> HttpResponse:
    """2xx: it is written down and looked after. Everything else makes Stripe send it again."""
    try:
        event = _verify(request)
        _look_after(event)
    except Problem as problem:
        return HttpResponse(
            problem.body(), status=problem.status, headers=problem.headers, content_type="application/problem+json"
        )
    return HttpResponse(status=200)


def _verify(request: HttpRequest) -> dict[str, Any]:
    """The event, if Stripe sent it just now; raises Problem."""
    import stripe

    refused = bad_request("This is not an event that Stripe signed in the last five minutes.")
    try:
        stripe.WebhookSignature.verify_header(
            request.body,
            request.headers.get("Stripe-Signature"),
            settings.ONLOOKER.stripe_webhook_secret,
            TOLERANCE_S,
        )
        event = json.loads(request.body)
    except (stripe.SignatureVerificationError, ValueError, TypeError, RecursionError):  # strangers send anything
        log.warning("webhook refused", extra=fields(length=len(request.body)))
        raise refused from None
    if not isinstance(event, dict) or not _is_name(event.get("id")) or not _is_name(event.get("type")):
        raise refused
    return event


def _look_after(event: dict[str, Any]) -> None:
    customer = _customer_of(event)
    if customer is None:
        return
    row, _ = Event.objects.get_or_create(stripe_id=event["id"], defaults={"type": event["type"], "customer": customer})
    if row.handled_at is not None:
        return
    try:
        settle_customer(customer.pk, now=timezone.now(), wait=False)  # if it is being settled, the chores do it again
    except TillError:
        raise overloaded("Stripe does not answer our questions. Send it again.", retry_after_s=60) from None


def _customer_of(event: dict[str, Any]) -> Customer | None:
    """All that we take from an event: whom it is about. Other products on the same Stripe account have events too."""
    if not event["type"].startswith(TOLD_OF):
        return None
    data = event.get("data")
    about = data.get("object") if isinstance(data, dict) else None
    if not isinstance(about, dict):
        return None
    stripe_id = about.get("id") if about.get("object") == "customer" else about.get("customer")
    return Customer.objects.filter(stripe_id=stripe_id).first() if _is_name(stripe_id) else None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w.-]{1,255}", value, re.ASCII) is not None
