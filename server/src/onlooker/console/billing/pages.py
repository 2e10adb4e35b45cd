"""The pages of billing: an overview, upgrading a stream, cancelling, changing the card."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.throttling import is_within, show_too_many
from onlooker.console.billing import till, wishes
from onlooker.console.billing.access import with_billing
from onlooker.console.billing.grace import GRACE
from onlooker.console.billing.line import TillError
from onlooker.console.billing.models import Customer, Subscription
from onlooker.console.billing.records import LATE, PAID, Invoice, Price
from onlooker.console.streams.access import owned_stream
from onlooker.streams.models import Stream

PRICE_FOR_S = 600
INVOICES_SHOWN = 12
CHECKOUTS_OF_ONE_ACCOUNT, UPGRADES_OF_ONE_ACCOUNT = "10/h/key", "30/h/key"


@require_safe
@with_billing
@login_required
def show_billing(request: HttpRequest) -> HttpResponse:
    account = _account(request)
    rows = Subscription.objects.filter(customer__account=account, stream__removed_at=None).select_related("stream")
    context = {"subscriptions": rows.order_by("stream__name", "id"), "form_key": uuid.uuid4(), "grace": GRACE}
    try:
        context |= {"card": wishes.find_card(account), "invoices": _invoices(account)}
    except TillError:
        context |= {"is_unreachable": True}
    return render(request, "billing/billing.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@with_billing
@login_required
def upgrade(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    """Explain and ask; then to Stripe's page for a card, or straight to a subscription with the one on file."""
    account, stream = _account(request), owned_stream(request.user, client_id)
    subscription = Subscription.objects.filter(stream=stream, wanted=True).first()
    if subscription is not None:
        _say_state(request, subscription, stream)
        return redirect("billing")
    if request.method == "POST" and not is_within(
        request, "upgrade", rates=UPGRADES_OF_ONE_ACCOUNT, key=str(account.pk)
    ):
        return show_too_many(request)
    try:
        card = wishes.find_card(account)
        if request.method == "POST" and stream.kind != Stream.Kind.ENTERPRISE:
            return _subscribe(request, stream) if card else _to_checkout(request, stream)
        context = {"stream": stream, "card": card, "price": _price(), "form_key": uuid.uuid4(), "grace": GRACE}
    except TillError:
        return render(request, "billing/unreachable.html", status=503)
    return render(request, "billing/upgrade.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@with_billing
@login_required
def cancel(request: HttpRequest, client_id: uuid.UUID) -> HttpResponse:
    stream = owned_stream(request.user, client_id)
    subscription = Subscription.objects.filter(stream=stream, wanted=True).first()
    if subscription is None:
        return redirect("billing")
    if request.method == "POST":
        return _unsubscribe(request, stream)
    return render(request, "billing/cancel.html", {"stream": stream})


@require_POST
@with_billing
@login_required
def change_card(request: HttpRequest) -> HttpResponse:
    try:
        return _to_checkout(request, None)
    except TillError:
        return render(request, "billing/unreachable.html", status=503)


@require_safe
@with_billing
@login_required
def come_back(request: HttpRequest) -> HttpResponse:
    """From Stripe's page for cards. What was done there is asked of Stripe; the same may come as an event."""
    customer = Customer.objects.filter(account=_account(request)).first()
    checkout = customer.checkouts.order_by("-id").first() if customer else None
    if customer is None or checkout is None:
        return redirect("billing")
    is_settled = wishes.settle_soon(customer)
    stream = checkout.stream
    subscription = Subscription.objects.filter(stream=stream).first() if stream else None
    if not is_settled:
        messages.info(request, "Stripe does not answer just now. We ask again in a minute; nothing is lost.")
    elif stream and subscription:
        _say_state(request, subscription, stream)
    elif customer.checkouts.filter(pk=checkout.pk, done_at__isnull=False).exists():
        messages.success(request, "The card is saved, and pays from now on.")
    return redirect("billing")


def _subscribe(request: HttpRequest, stream: Stream) -> HttpResponse:
    subscription = wishes.subscribe(_account(request), stream)
    if subscription is None:
        messages.error(request, "Stripe could not begin the subscription. Enter the card once more.")
        return redirect("billing-upgrade", stream.client_id)
    _say_state(request, subscription, stream)
    return redirect("billing")


def _unsubscribe(request: HttpRequest, stream: Stream) -> HttpResponse:
    try:
        is_cancelled = wishes.unsubscribe(_account(request), stream)
    except TillError:
        return render(request, "billing/unreachable.html", status=503)
    if is_cancelled:
        messages.success(request, f"“{stream.name}” is a developer stream now. Its subscription is cancelled.")
    else:
        messages.warning(
            request,
            f"“{stream.name}” is a developer stream now. Stripe does not answer just now: its subscription is "
            "cancelled there as soon as it does. There is nothing you have to do.",
        )
    return redirect("billing")


def _to_checkout(request: HttpRequest, stream: Stream | None) -> HttpResponse:
    account = _account(request)
    if not is_within(request, "checkout", rates=CHECKOUTS_OF_ONE_ACCOUNT, key=str(account.pk)):
        return show_too_many(request)
    try:
        form_key = uuid.UUID(request.POST.get("form_key", ""))
    except ValueError:
        form_key = uuid.uuid4()
    url = wishes.open_checkout(account, stream, form_key=form_key)
    answer = HttpResponseRedirect(url)
    answer.status_code = 303
    return answer


def _say_state(request: HttpRequest, subscription: Subscription, stream: Stream) -> None:
    if subscription.status in PAID:
        messages.success(request, f"“{stream.name}” is an enterprise stream. Its quota is lifted within a minute.")
    elif subscription.status in LATE:
        messages.warning(request, f"The last payment for “{stream.name}” failed.")
    elif subscription.status:
        messages.warning(request, f"The first payment for “{stream.name}” is not done yet. See below what is missing.")
    else:
        messages.info(request, "Stripe does not answer just now. We ask again in a minute; nothing is lost.")


def _price() -> Price:
    name = f"billing-price-{settings.ONLOOKER.stripe_price}"
    price: Price | None = cache.get(name)
    if price is None:
        price = till.read_price()
        cache.set(name, price, PRICE_FOR_S)
    return price


def _invoices(account: Account) -> list[Invoice]:
    customer = Customer.objects.filter(account=account).exclude(stripe_id="").first()
    return till.list_invoices(customer.stripe_id, limit=INVOICES_SHOWN) if customer else []


def _account(request: HttpRequest) -> Account:
    assert isinstance(request.user, Account)
    return request.user
