"""Limits of what can be tried and sent, counted in the cache that all consoles share."""

from allauth.core.internal import ratelimit
from django.http import HttpRequest, HttpResponse

RETRY_AFTER_S = 60
MAILS_FROM_ONE_ADDRESS = "3/10m/key,6/h/key"
MAILS_TO_ONE_MAILBOX = "10/h/key"
"""Of mails that anybody can have sent to anybody: to verify an address, to reset a password."""


def show_too_many(request: HttpRequest) -> HttpResponse:
    """Status 429 with the page 429.html; the console's handler429."""
    response: HttpResponse = ratelimit.handler429(request)
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def address_of(request: HttpRequest) -> str:
    """Where a request comes from; of IPv6 the network, since a person has all of it."""
    return str(ratelimit.get_ip(request))


def is_within(request: HttpRequest, action: str, *, rates: str, key: str) -> bool:
    """Count one more, unless that is too many."""
    usage = ratelimit.consume(request, app="onlooker", action=action, config={action: rates}, key=key, limit_get=True)
    return usage is not None


def may_mail(request: HttpRequest, mailbox: str) -> bool:
    """Whether one more mail may be sent to a mailbox because somebody typed its address."""
    limits = _mail_limits(request, mailbox)
    return all(is_within(request, action, rates=rates, key=key) for action, rates, key in limits)


def forget_mail(request: HttpRequest, mailbox: str) -> None:
    """It could not be sent: the next try is not one too many."""
    for action, rates, key in _mail_limits(request, mailbox):
        ratelimit.clear(request, app="onlooker", action=action, config={action: rates}, key=key)


def _mail_limits(request: HttpRequest, mailbox: str) -> list[tuple[str, str, str]]:
    mailbox = mailbox.lower()
    pair = f"{mailbox} {address_of(request)}"
    return [("mails_from_address", MAILS_FROM_ONE_ADDRESS, pair), ("mails_to_mailbox", MAILS_TO_ONE_MAILBOX, mailbox)]
