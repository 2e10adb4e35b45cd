"""The billing pages: overview, upgrading a stream, cancelling, changing the card."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.rate_limit import show_rate_limited, take_within_limit
from onlooker.console.billing import stripe_api
from onlooker.console.billing.checkout import find_card, open_checkout, reconcile_now, subscribe, unsubscribe
from onlooker.console.billing.configuration import require_billing
from onlooker.console.billing.models import GRACE_PERIOD, Customer, Subscription
from onlooker.console.billing.price_text import describe_cost, describe_payments
from onlooker.console.billing.stripe_api import StripeApiError
from onlooker.console.billing.stripe_records import PAID, PAST_DUE, Invoice, Price
from onlooker.console.streams.access import paid_stream
from onlooker.streams.models import Stream

PRICE_CACHED_S = 600
INVOICES_SHOWN = 12
CHECKOUTS_OF_ONE_ACCOUNT, UPGRADES_OF_ONE_ACCOUNT = "10/h/key", "30/h/key"


@require_safe
@require_billing
@login_required
def show_billing(request: HttpRequest) -> HttpResponse:
    account = _account(request)
    rows = Subscription.objects.filter(customer__account=account, stream__removed_at=None).select_related("stream")
    context = {"subscriptions": rows.order_by("stream__name", "id"), "form_key": uuid.uuid4()}
    try:
        context |= {"card": find_card(account), "invoices": _invoices(account)}
    except StripeApiError:
        context |= {"is_unreachable": True}
    return render(request, "billing/billing.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@require_billing
@login_required
def upgrade(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Explain and ask; then go to Stripe's page for a card, or subscribe with the card on file."""
    account, stream = _account(request), paid_stream(request.user, client_id)
    subscription = Subscription.objects.filter(stream=stream, wanted=True).first()
    if subscription is not None:
        _say_state(request, subscription, stream)
        return redirect("billing")
    if request.method == "POST" and not take_within_limit(
        request, "upgrade", rates=UPGRADES_OF_ONE_ACCOUNT, key=str(account.pk)
    ):
        return show_rate_limited(request)
    try:
        card = find_card(account)
        if request.method == "POST" and stream.kind != Stream.Kind.ENTERPRISE:
            return _subscribe(request, stream) if card else _to_checkout(request, stream)
        price = _price()
        context = {
            "stream": stream,
            "card": card,
            "cost": describe_cost(price),
            "payments": describe_payments(price),
            "form_key": uuid.uuid4(),
            "grace_period": GRACE_PERIOD,
        }
    except StripeApiError:
        return render(request, "billing/unreachable.html", status=503)
    return render(request, "billing/upgrade.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@require_billing
@login_required
def cancel(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    account, stream = _account(request), paid_stream(request.user, client_id)
    subscription = Subscription.objects.filter(stream=stream, wanted=True).select_related("customer__account").first()
    if subscription is None:
        return redirect("billing")
    if subscription.customer.account_id != account.pk:
        text = _("{email} pays for “{name}”, and can cancel it.")
        messages.warning(request, text.format(email=subscription.customer.account, name=stream.name))
        return redirect("billing")
    if request.method == "POST":
        return _unsubscribe(request, stream)
    return render(request, "billing/cancel.html", {"stream": stream})


@require_POST
@require_billing
@login_required
def change_card(request: HttpRequest) -> HttpResponse:
    try:
        return _to_checkout(request, None)
    except StripeApiError:
        return render(request, "billing/unreachable.html", status=503)


@require_safe
@require_billing
@login_required
def return_from_checkout(request: HttpRequest) -> HttpResponse:
    """From Stripe's page for cards. What happened there is read from Stripe; a webhook may report it too."""
    customer = Customer.objects.filter(account=_account(request)).first()
    checkout = customer.checkouts.order_by("-id").first() if customer else None
    if customer is None or checkout is None:
        return redirect("billing")
    is_reconciled = reconcile_now(customer)
    stream = checkout.stream
    subscription = Subscription.objects.filter(stream=stream).first() if stream else None
    if not is_reconciled:
        messages.info(request, _("Stripe is not responding. We will try again in a minute; nothing is lost."))
    elif stream and subscription:
        _say_state(request, subscription, stream)
    elif customer.checkouts.filter(pk=checkout.pk, done_at__isnull=False).exists():
        messages.success(request, _("Card saved. It is used for all payments from now on."))
    return redirect("billing")


def _subscribe(request: HttpRequest, stream: Stream) -> HttpResponse:
    subscription = subscribe(_account(request), stream)
    if subscription is None:
        messages.error(request, _("Stripe could not start the subscription. Enter your card again."))
        return redirect("billing-upgrade", stream.client_id)
    _say_state(request, subscription, stream)
    return redirect("billing")


def _unsubscribe(request: HttpRequest, stream: Stream) -> HttpResponse:
    try:
        is_cancelled = unsubscribe(_account(request), stream)
    except StripeApiError:
        return render(request, "billing/unreachable.html", status=503)
    if is_cancelled:
        text = _("Subscription cancelled. “{name}” is now a developer stream.")
        messages.success(request, text.format(name=stream.name))
    else:
        text = _(
            "“{name}” is now a developer stream. Stripe is not responding; we will cancel the subscription "
            "as soon as it does. You don't need to do anything."
        )
        messages.warning(request, text.format(name=stream.name))
    return redirect("billing")


def _to_checkout(request: HttpRequest, stream: Stream | None) -> HttpResponse:
    account = _account(request)
    if not take_within_limit(request, "checkout", rates=CHECKOUTS_OF_ONE_ACCOUNT, key=str(account.pk)):
        return show_rate_limited(request)
    try:
        form_key = uuid.UUID(request.POST.get("form_key", ""))
    except ValueError:
        form_key = uuid.uuid4()
    url = open_checkout(account, stream, form_key=form_key)
    answer = HttpResponseRedirect(url)
    answer.status_code = 303
    return answer


def _say_state(request: HttpRequest, subscription: Subscription, stream: Stream) -> None:
    if subscription.status in PAID:
        text = _("“{name}” is now an enterprise stream. Its quota is lifted within a minute.")
        messages.success(request, text.format(name=stream.name))
    elif subscription.status in PAST_DUE:
        messages.warning(request, _("The last payment for “{name}” failed.").format(name=stream.name))
    elif subscription.status:
        text = _("The first payment for “{name}” is not complete yet; see below.")
        messages.warning(request, text.format(name=stream.name))
    else:
        messages.info(request, _("Stripe is not responding. We will try again in a minute; nothing is lost."))


def _price() -> Price:
    name = f"stripe-price-{settings.ONLOOKER.stripe_price}"
    price: Price | None = cache.get(name)
    if price is None:
        price = stripe_api.read_price()
        cache.set(name, price, PRICE_CACHED_S)
    return price


def _invoices(account: Account) -> list[Invoice]:
    customer = Customer.objects.filter(account=account).exclude(stripe_id="").first()
    return stripe_api.list_invoices(customer.stripe_id, limit=INVOICES_SHOWN) if customer else []


def _account(request: HttpRequest) -> Account:
    assert isinstance(request.user, Account)
    return request.user
