"""Stripe's webhook: each event is verified, recorded once, and followed by a reconciliation."""

import json
import logging
import re
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from onlooker.console.billing.configuration import require_billing
from onlooker.console.billing.models import Customer, StripeEvent
from onlooker.console.billing.reconciliation import reconcile_customer
from onlooker.console.billing.stripe_api import StripeApiError
from onlooker.errors import Problem, bad_request, overloaded
from onlooker.logs import fields

log = logging.getLogger(__name__)

TOLERANCE_S = 300
"""How old a signature may be."""
RELEVANT_TYPES = ("checkout.session.", "customer.", "invoice.", "payment_method.", "setup_intent.")
"""Events that begin like this may change a subscription or its card; others are ignored."""


@csrf_exempt
@require_POST
@require_billing
def receive_event(request: HttpRequest) -> HttpResponse:
    """Any status except 2xx makes Stripe send the event again."""
    try:
        event = _verify(request)
        _handle_event(event)
    except Problem as problem:
        return HttpResponse(
            problem.body(), status=problem.status, headers=problem.headers, content_type="application/problem+json"
        )
    return HttpResponse(status=200)


def _verify(request: HttpRequest) -> dict[str, Any]:
    """The event, if Stripe signed it recently; raises Problem."""
    import stripe

    refused = bad_request("This is not an event signed by Stripe within the last five minutes.")
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


def _handle_event(event: dict[str, Any]) -> None:
    customer = _customer_of(event)
    if customer is None:
        return
    row, _ = StripeEvent.objects.get_or_create(
        stripe_id=event["id"], defaults={"type": event["type"], "customer": customer}
    )
    if row.handled_at is not None:
        return
    try:
        # If a reconciliation is in progress, the chores do another one later.
        reconcile_customer(customer.pk, now=timezone.now(), wait=False)
    except StripeApiError:
        raise overloaded("Stripe's API is not responding. Send the event again.", retry_after_s=60) from None


def _customer_of(event: dict[str, Any]) -> Customer | None:
    """All we take from an event: whom it concerns. Other products on the same Stripe account have events too."""
    if not event["type"].startswith(RELEVANT_TYPES):
        return None
    data = event.get("data")
    about = data.get("object") if isinstance(data, dict) else None
    if not isinstance(about, dict):
        return None
    stripe_id = about.get("id") if about.get("object") == "customer" else about.get("customer")
    return Customer.objects.filter(stripe_id=stripe_id).first() if _is_name(stripe_id) else None


def _is_name(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[\w.-]{1,255}", value, re.ASCII) is not None
