"""Events that webhooks tell of, and the outbox that they are put into: in the transaction of what happened."""

import json
import logging
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext_lazy as _lazy

from onlooker.logs import fields
from onlooker.streams.models import Organisation, Stream
from onlooker.webhooks import counters
from onlooker.webhooks.models import Delivery, Endpoint

log = logging.getLogger(__name__)

TEST = "test"
EVENTS = {
    "stream.silent": _lazy("A stream sends no frames any more."),
    "stream.back": _lazy("A silent stream sends frames again."),
    "camera.blind": _lazy("A camera sees nothing: it is dark, covered, frozen or gives no pictures."),
    "camera.back": _lazy("A blind camera sees again."),
    "numbers.unusual": _lazy("Far fewer or far more people came than usual."),
    "device.enrolled": _lazy("A device enrolled."),
    "device.revoked": _lazy("A device was revoked."),
    "device.configuration_refused": _lazy("A device refused its configuration."),
    "device.configuration_rolled_back": _lazy("A device went back to the configuration before."),
    TEST: _lazy("Somebody pressed Send test event. Every endpoint gets it."),
}
LARGEST_BODY = 20_000
"""Bytes; the specification recommends no more."""
MOST_WAITING = 10_000
"""Deliveries of one endpoint. More events are dropped, and counted."""
AT_ONCE = 500


def emit(organisation: Organisation | int | None, event: str, data: Mapping[str, Any]) -> int:
    """Put an event into the outbox of each endpoint that wants it; returns how many. Call it in the transaction of
    what happened: both are there, or none."""
    return emit_many(organisation, event, [data])


def emit_many(organisation: Organisation | int | None, event: str, happened: Iterable[Mapping[str, Any]]) -> int:
    """The same event about several things, in their order."""
    if event not in EVENTS:
        raise ValueError(f"There is no event {event!r}. Add it to EVENTS in {__name__}.")
    number = organisation.pk if isinstance(organisation, Organisation) else organisation
    if number is None:  # of a stream that was removed
        return 0
    endpoints = [
        one
        for one in Endpoint.objects.filter(organisation=number, disabled_at=None)
        if not one.events or event in one.events
    ]
    if not endpoints:
        return 0
    now = timezone.now()
    bodies = [write_body(number, event, data, now) for data in happened]
    return sum(_put(endpoint, event, bodies) for endpoint in endpoints)


def about(stream: Stream) -> dict[str, Any]:
    """How events name a stream and its site."""
    site = stream.site
    return {
        "stream": str(stream.client_id),
        "stream_name": stream.name,
        "site": site.pk if site else None,
        "site_name": site.name if site else None,
    }


def put_test(endpoint: Endpoint) -> Delivery:
    """For this endpoint alone."""
    body = write_body(endpoint.organisation_id, TEST, {"webhook": endpoint.pk}, timezone.now())
    counters.events("queued").inc()
    return Delivery.objects.create(endpoint=endpoint, event=TEST, body=body)


def write_body(organisation: int, event: str, data: Mapping[str, Any], at: datetime) -> str:
    """As the specification recommends it: type, timestamp, data."""
    moment = at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    said = {"type": event, "timestamp": moment, "organisation": organisation, "data": data}
    body = json.dumps(said, separators=(",", ":"), ensure_ascii=False)
    if len(body.encode()) > LARGEST_BODY:
        raise ValueError(f"The data of {event} is larger than {LARGEST_BODY} bytes. Send what identifies it.")
    return body


def _put(endpoint: Endpoint, event: str, bodies: list[str]) -> int:
    room = MOST_WAITING - endpoint.waiting()[:MOST_WAITING].count()
    kept = bodies[: max(room, 0)]
    Delivery.objects.bulk_create(
        [Delivery(endpoint=endpoint, event=event, body=body) for body in kept], batch_size=AT_ONCE
    )
    counters.events("queued").inc(len(kept))
    if dropped := len(bodies) - len(kept):
        counters.events("dropped").inc(dropped)
        log.warning("webhook events dropped: too many wait", extra=fields(webhook=endpoint.pk, dropped=dropped))
    return len(kept)
