"""Deliveries within a test: an organisation with a webhook, and a deliverer that may reach loopback."""

import asyncio
import ipaddress
import ssl

from onlooker.console.accounts.models import Account
from onlooker.console.webhooks.deliverer import Deliverer
from onlooker.console.webhooks.endpoints import NewEndpoint, create_endpoint
from onlooker.streams.models import Organisation
from onlooker.streams.organisations import organisation_of
from onlooker.webhooks.models import Endpoint
from onlooker.webhooks.pinned_post import Outbound, make_resolver
from testkit.webhook_receiver import Receiver

NETWORKS = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))
OUTSIDE = "https://hooks.example.org/in"
"""Checked when a webhook is created; tests change it to a receiver of their own."""


def webhook_of(owner: Account, receiver: Receiver, **values: object) -> NewEndpoint:
    return webhook_in(organisation_of(owner), receiver, **values)


def webhook_in(organisation: Organisation, receiver: Receiver, **values: object) -> NewEndpoint:
    made = create_endpoint(organisation, OUTSIDE, **values)  # type: ignore[arg-type]
    Endpoint.objects.filter(pk=made.endpoint.pk).update(url=receiver.url)
    made.endpoint.refresh_from_db()
    return made


def outbound_to(receiver: Receiver, limit_s: float = 2.0) -> Outbound:
    context = ssl.create_default_context(cafile=str(receiver.authority))
    return Outbound(context, make_resolver(), NETWORKS, limit_s)


def deliver(receiver: Receiver, *, limit_s: float = 2.0) -> int:
    """One look for what is due, until all of it was tried; returns how many endpoints were."""

    async def run() -> int:
        deliverer = Deliverer(outbound_to(receiver, limit_s))
        begun = await deliverer.begin_rounds()
        await deliverer.finish()
        return begun

    return asyncio.run(run())
