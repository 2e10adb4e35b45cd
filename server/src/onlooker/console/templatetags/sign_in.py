"""What pages say about organisations' sign-in."""

from typing import Any

from django import template

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.reach import organisations_that_wait
from onlooker.streams.models import Organisation

register = template.Library()


@register.simple_tag(takes_context=True)
def waiting_organisations(context: dict[str, Any]) -> list[Organisation]:
    """Those that require a second factor which the account lacks; asked for on the page of streams only."""
    request = context.get("request")
    match = getattr(request, "resolver_match", None)
    if request is None or match is None or match.url_name != "streams" or not isinstance(request.user, Account):
        return []
    return list(organisations_that_wait(request.user))
