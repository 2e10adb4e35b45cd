"""Rate limits of attempts and mails, counted in the cache that all consoles share."""

from allauth.core.internal import ratelimit
from django.http import HttpRequest, HttpResponse

RETRY_AFTER_S = 60
MAILS_FROM_ONE_ADDRESS = "3/10m/key,6/h/key"
MAILS_TO_ONE_MAILBOX = "10/h/key"
"""For mails that anyone can trigger to any address: to verify an address, to reset a password."""


def show_rate_limited(request: HttpRequest) -> HttpResponse:
    """Status 429 with the page 429.html; the console's handler429."""
    response: HttpResponse = ratelimit.handler429(request)
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def client_address(request: HttpRequest) -> str:
    """The address a request comes from; of IPv6 the network, since one subscriber has all of it."""
    return str(ratelimit.get_ip(request))


def take_within_limit(request: HttpRequest, action: str, *, rates: str, key: str) -> bool:
    """Count one more and return True, or False if that would exceed the limit."""
    usage = ratelimit.consume(request, app="onlooker", action=action, config={action: rates}, key=key, limit_get=True)
    return usage is not None


def take_mail_allowance(request: HttpRequest, mailbox: str) -> bool:
    """Whether one more mail may be sent to a mailbox because someone entered its address."""
    limits = _mail_limits(request, mailbox)
    return all(take_within_limit(request, action, rates=rates, key=key) for action, rates, key in limits)


def return_mail_allowance(request: HttpRequest, mailbox: str) -> None:
    """The mail could not be sent, so it does not count."""
    for action, rates, key in _mail_limits(request, mailbox):
        ratelimit.clear(request, app="onlooker", action=action, config={action: rates}, key=key)


def _mail_limits(request: HttpRequest, mailbox: str) -> list[tuple[str, str, str]]:
    mailbox = mailbox.lower()
    pair = f"{mailbox} {client_address(request)}"
    return [("mails_from_address", MAILS_FROM_ONE_ADDRESS, pair), ("mails_to_mailbox", MAILS_TO_ONE_MAILBOX, mailbox)]
