"""Webhooks: addresses that events are sent to, and what became of each message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from onlooker_client.manage.api_request import ManagementApi, Named, given, path_to
from onlooker_client.manage.record_fields import read_record
from onlooker_client.manage.records import NewSecret, NewWebhook, Webhook, WebhookDelivery


class Webhooks:
    """`organisation.webhooks`."""

    def __init__(self, api: ManagementApi) -> None:
        self._api = api

    def __iter__(self) -> Iterator[Webhook]:
        return self.list()

    def list(self) -> Iterator[Webhook]:
        return self._api.items(Webhook, "webhooks")

    def get(self, webhook: Named) -> Webhook:
        return read_record(Webhook, self._api.get(path_to("webhooks", webhook)))

    def create(
        self,
        url: str,
        *,
        name: str | None = None,
        events: Sequence[str] = (),
        idempotency_key: str | None = None,
    ) -> NewWebhook:
        """With the secret that its messages are signed with, which is not shown again. No events: all."""
        said = given(url=url, name=name, events=list(events) or None)
        return read_record(NewWebhook, self._api.post("webhooks", said, idempotency_key=idempotency_key))

    def change(self, webhook: Named, **changes: Any) -> Webhook:
        """`url`, `name`, `events`, `enabled`."""
        return read_record(Webhook, self._api.patch(path_to("webhooks", webhook), changes))

    def delete(self, webhook: Named) -> None:
        self._api.delete(path_to("webhooks", webhook))

    def new_secret(self, webhook: Named) -> NewSecret:
        """For a day the one before signs, too."""
        return read_record(NewSecret, self._api.post(path_to("webhooks", webhook, "secret")))

    def test(self, webhook: Named) -> WebhookDelivery:
        """Sends the event `test`."""
        return read_record(WebhookDelivery, self._api.post(path_to("webhooks", webhook, "test")))

    def deliveries(self, webhook: Named) -> Iterator[WebhookDelivery]:
        """Newest first."""
        return self._api.items(WebhookDelivery, path_to("webhooks", webhook, "deliveries"))

    def replay(self, webhook: Named, delivery: Named) -> WebhookDelivery:
        """Sends a message again."""
        return read_record(
            WebhookDelivery, self._api.post(path_to("webhooks", webhook, "deliveries", delivery, "replay"))
        )
