"""The pages of an organisation's webhooks: the list, an endpoint with its deliveries, secrets that are shown once."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.languages.locale_text import translate
from onlooker.console.streams.access import own_membership
from onlooker.console.webhooks import endpoints
from onlooker.console.webhooks.forms import EndpointForm
from onlooker.console.webhooks.outbox import KEPT, TRIES
from onlooker.streams.models import Organisation
from onlooker.streams.organisations import MANAGERS, RefusedError
from onlooker.webhooks.models import Delivery, Endpoint
from onlooker.webhooks.pinned_post import EXPLAINED, Trouble

ROWS = 50
LARGEST_NUMBER = 2**63 - 1


def _organisation(request: PersonRequest, organisation_id: int) -> Organisation:
    return own_membership(request.user, min(organisation_id, LARGEST_NUMBER), *MANAGERS).organisation


def _endpoint(request: PersonRequest, organisation_id: int, endpoint_id: int) -> Endpoint:
    """One that the account may change, or Http404."""
    organisation = _organisation(request, organisation_id)
    rows = Endpoint.objects.select_related("organisation")
    return get_object_or_404(rows, organisation=organisation, pk=min(endpoint_id, LARGEST_NUMBER))


@signed_in("GET", "HEAD")
def list_endpoints(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = _organisation(request, organisation_id)
    rows = organisation.webhooks.order_by("id")
    return render(request, "webhooks/list.html", {"organisation": organisation, "webhooks": rows})


@signed_in("GET", "HEAD", "POST")
def create_endpoint(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = _organisation(request, organisation_id)
    form = EndpointForm(request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            with acting_as(account_actor(request.user.pk)):
                made = endpoints.create_endpoint(
                    organisation, given["url"], events=given["events"], name=given["name"], by=request.user
                )
            return _show_secret(request, made.endpoint, made.secret)
        except RefusedError as error:
            form.add_error("url", translate(error))
    return render(request, "webhooks/new.html", {"organisation": organisation, "form": form})


def _show_secret(request: PersonRequest, endpoint: Endpoint, secret: str, *, is_new: bool = True) -> HttpResponse:
    """The answer to the POST that created it. A reload leads to the webhook, and no cache keeps this one."""
    context = {"organisation": endpoint.organisation, "webhook": endpoint, "secret": secret, "is_new": is_new}
    answer = render(request, "webhooks/secret.html", context)
    answer["Cache-Control"] = "no-store"
    return answer


@signed_in("GET", "HEAD", "POST")
def show_endpoint(request: PersonRequest, organisation_id: int, endpoint_id: int) -> HttpResponse:
    """Its settings, and what was sent: newest first, some at a time."""
    endpoint = _endpoint(request, organisation_id, endpoint_id)
    form = EndpointForm(request.POST or None, endpoint=endpoint)
    if form.is_valid():
        try:
            with acting_as(account_actor(request.user.pk)):
                endpoints.change_endpoint(endpoint, **form.cleaned_data)
        except RefusedError as error:
            form.add_error("url", translate(error))
        else:
            messages.success(request, _("Webhook saved."))
            return redirect("webhook", organisation_id, endpoint.pk)
    before = request.GET.get("before", "")
    rows = endpoint.deliveries.order_by("-id")
    if before.isascii() and before.isdecimal() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    found = list(rows[: ROWS + 1])
    context = {
        "organisation": endpoint.organisation,
        "webhook": endpoint,
        "form": form,
        "deliveries": [_describe(row) for row in found[:ROWS]],
        "next": found[ROWS - 1].pk if len(found) > ROWS else None,
        "is_newest": not before,
        "replaced_until": endpoint.secrets.exclude(expires_at=None).values_list("expires_at", flat=True).last(),
        "kept_days": KEPT.days,
        "tries": TRIES,
    }
    return render(request, "webhooks/webhook.html", context)


def _describe(delivery: Delivery) -> dict[str, Any]:
    known = delivery.last_reason in set(Trouble)
    return {"row": delivery, "trouble": translate(EXPLAINED[Trouble(delivery.last_reason)]) if known else ""}


@signed_in("POST")
def send_test_event(request: PersonRequest, organisation_id: int, endpoint_id: int) -> HttpResponse:
    endpoint = _endpoint(request, organisation_id, endpoint_id)
    try:
        with acting_as(account_actor(request.user.pk)):
            endpoints.send_test(endpoint)
        text = _("Test event on its way. Reload this page in a few seconds to see what became of it.")
        messages.success(request, text)
    except RefusedError as error:
        messages.error(request, translate(error))
    return redirect("webhook", organisation_id, endpoint.pk)


@signed_in("POST")
def replace_endpoint_secret(request: PersonRequest, organisation_id: int, endpoint_id: int) -> HttpResponse:
    endpoint = _endpoint(request, organisation_id, endpoint_id)
    with acting_as(account_actor(request.user.pk)):
        secret = endpoints.replace_secret(endpoint)
    return _show_secret(request, endpoint, secret, is_new=False)


@signed_in("POST")
def switch_endpoint(request: PersonRequest, organisation_id: int, endpoint_id: int) -> HttpResponse:
    """Enable what is disabled, or disable it: what the button said."""
    endpoint = _endpoint(request, organisation_id, endpoint_id)
    wanted = request.POST.get("enabled") == "yes"
    with acting_as(account_actor(request.user.pk)):
        endpoints.change_endpoint(endpoint, enabled=wanted)
    messages.success(request, _("Webhook enabled. What waits is sent now.") if wanted else _("Webhook disabled."))
    return redirect("webhook", organisation_id, endpoint.pk)


@signed_in("POST")
def remove_endpoint(request: PersonRequest, organisation_id: int, endpoint_id: int) -> HttpResponse:
    endpoint = _endpoint(request, organisation_id, endpoint_id)
    with acting_as(account_actor(request.user.pk)):
        endpoints.remove_endpoint(endpoint)
    messages.success(request, _("Webhook {name} deleted.").format(name=endpoint))
    return redirect("webhooks", organisation_id)


@signed_in("POST")
def replay_delivery(request: PersonRequest, organisation_id: int, endpoint_id: int, delivery_id: int) -> HttpResponse:
    endpoint = _endpoint(request, organisation_id, endpoint_id)
    delivery = get_object_or_404(Delivery, endpoint=endpoint, pk=min(delivery_id, LARGEST_NUMBER))
    try:
        endpoints.replay(delivery)
        messages.success(request, _("{event} is sent again.").format(event=delivery.event))
    except RefusedError as error:
        messages.error(request, translate(error))
    return redirect("webhook", organisation_id, endpoint.pk)
