"""`{% show_invitations %}`: the open invitations of the person who views the page."""

from typing import Any

from django import template

from onlooker.console.accounts.models import Account
from onlooker.console.members.invitations import open_invitations

register = template.Library()


@register.inclusion_tag("members/_invitations.html", takes_context=True)
def show_invitations(context: dict[str, Any]) -> dict[str, Any]:
    account = context.get("user")
    return {"invitations": open_invitations(account) if isinstance(account, Account) else []}
