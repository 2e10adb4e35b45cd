"""Webhooks: where events of the organisation are sent, and what became of them."""

from typing import Annotated

from django.db.models import QuerySet
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.api.caller import ApiCaller, require_number
from onlooker.console.api.fields import UNSET, Input, Output, Text, UnsetType, said_in
from onlooker.console.api.operation import ApiCall, Nothing, OptionalTime, Time, write_moment, write_moment_or_null
from onlooker.console.api.pages import Page, PageQuery, read_page
from onlooker.console.webhooks import endpoints
from onlooker.errors import not_found
from onlooker.webhooks.addresses import LONGEST_URL
from onlooker.webhooks.models import Delivery, Endpoint

Url = Annotated[str, Meta(max_length=LONGEST_URL)]
Events = Annotated[list[Annotated[str, Meta(max_length=60)]], Meta(max_length=50, description="Empty: all")]


class WebhookBody(Output, frozen=True):
    """An address that events are sent to."""

    id: int
    name: str
    url: str
    events: list[str]
    created_at: Time
    disabled_at: OptionalTime
    disabled_why: Annotated[str, Meta(description="person, failed or gone; empty: it is enabled")]


class NewWebhookBody(Input, frozen=True):
    """A webhook that does not exist yet."""

    url: Url
    name: Text = ""
    events: Events = []


class CreatedWebhookBody(Output, frozen=True):
    """A webhook, and the secret that signs what it gets, which is shown this once."""

    webhook: WebhookBody
    secret: Annotated[str, Meta(description="Of Standard Webhooks, whsec_..., shown this once")]


class WebhookChange(Input, frozen=True):
    """What changes; what is not named stays."""

    url: Url | UnsetType = UNSET
    name: Text | UnsetType = UNSET
    events: Events | UnsetType = UNSET
    enabled: bool | UnsetType = UNSET


class NewSecretBody(Output, frozen=True):
    """The next secret, which is shown this once; the one before signs too for a day."""

    secret: str


class DeliveryBody(Output, frozen=True):
    """An event on its way."""

    id: int
    message_id: Annotated[str, Meta(description="The header webhook-id, the same with each try")]
    event: str
    created_at: Time
    tries: int
    next_try_at: OptionalTime
    delivered_at: OptionalTime
    failed_at: Annotated[OptionalTime, Meta(description="When it was given up")]
    last_status: int | None
    last_reason: str


def _webhooks(caller: ApiCaller) -> QuerySet[Endpoint]:
    return Endpoint.objects.filter(organisation=caller.organisation)


def _find_webhook(caller: ApiCaller, webhook_id: int) -> Endpoint:
    found = _webhooks(caller).filter(pk=require_number(webhook_id, "webhook")).first()
    if found is None:
        raise not_found("webhook")
    return found


def write_webhook(webhook: Endpoint) -> WebhookBody:
    return WebhookBody(
        id=webhook.pk,
        name=webhook.name,
        url=webhook.url,
        events=webhook.events,
        created_at=write_moment(webhook.created_at),
        disabled_at=write_moment_or_null(webhook.disabled_at),
        disabled_why=str(webhook.disabled_why),
    )


def write_delivery(delivery: Delivery) -> DeliveryBody:
    return DeliveryBody(
        id=delivery.pk,
        message_id=delivery.message_id,
        event=delivery.event,
        created_at=write_moment(delivery.created_at),
        tries=delivery.tries,
        next_try_at=write_moment(delivery.next_try_at) if delivery.is_waiting else None,
        delivered_at=write_moment_or_null(delivery.delivered_at),
        failed_at=write_moment_or_null(delivery.failed_at),
        last_status=delivery.last_status,
        last_reason=delivery.last_reason,
    )


def list_webhooks(call: ApiCall[Nothing, PageQuery]) -> Page[WebhookBody]:
    return read_page(_webhooks(call.caller), call.query, write_webhook, list_name="webhooks")


def read_webhook(call: ApiCall[Nothing, Nothing]) -> WebhookBody:
    return write_webhook(_find_webhook(call.caller, call.path["webhook_id"]))


def create_webhook(call: ApiCall[NewWebhookBody, Nothing]) -> CreatedWebhookBody:
    caller, body = call.caller, call.body
    with acting_as(caller.actor):
        made = endpoints.create_endpoint(
            caller.organisation, body.url, events=body.events, name=body.name, by=caller.key.created_by
        )
    return CreatedWebhookBody(webhook=write_webhook(_find_webhook(caller, made.endpoint.pk)), secret=made.secret)


def change_webhook(call: ApiCall[WebhookChange, Nothing]) -> WebhookBody:
    webhook = _find_webhook(call.caller, call.path["webhook_id"])
    with acting_as(call.caller.actor):
        return write_webhook(endpoints.change_endpoint(webhook, **said_in(call.body)))


def remove_webhook(call: ApiCall[Nothing, Nothing]) -> None:
    webhook = _find_webhook(call.caller, call.path["webhook_id"])
    with acting_as(call.caller.actor):
        endpoints.remove_endpoint(webhook)


def send_test_event(call: ApiCall[Nothing, Nothing]) -> DeliveryBody:
    webhook = _find_webhook(call.caller, call.path["webhook_id"])
    with acting_as(call.caller.actor):
        made = endpoints.send_test(webhook)
    made.refresh_from_db()
    return write_delivery(made)


def replace_webhook_secret(call: ApiCall[Nothing, Nothing]) -> NewSecretBody:
    webhook = _find_webhook(call.caller, call.path["webhook_id"])
    with acting_as(call.caller.actor):
        return NewSecretBody(secret=endpoints.replace_secret(webhook))


def list_deliveries(call: ApiCall[Nothing, PageQuery]) -> Page[DeliveryBody]:
    webhook = _find_webhook(call.caller, call.path["webhook_id"])
    list_name = f"deliveries {webhook.pk}"
    return read_page(webhook.deliveries.all(), call.query, write_delivery, list_name=list_name, newest_first=True)


def replay_delivery(call: ApiCall[Nothing, Nothing]) -> DeliveryBody:
    webhook = _find_webhook(call.caller, call.path["webhook_id"])
    delivery = webhook.deliveries.filter(pk=require_number(call.path["delivery_id"], "delivery")).first()
    if delivery is None:
        raise not_found("delivery")
    with acting_as(call.caller.actor):
        return write_delivery(endpoints.replay(delivery))
