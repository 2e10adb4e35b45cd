"""`{% organisation_tabs "keys" %}`: the pages of an organisation that the person who views one of them may open."""

from typing import Any

from django import template

from onlooker.console.streams.access import roles_of
from onlooker.streams.models import MemberRole
from onlooker.streams.organisations import MANAGERS

register = template.Library()


@register.inclusion_tag("organisations/tabs.html", takes_context=True)
def organisation_tabs(context: dict[str, Any], tab: str) -> dict[str, Any]:
    organisation = context["organisation"]
    role = roles_of(context["user"]).get(organisation.pk)
    rights = {"is_manager": role in MANAGERS, "is_owner": role is MemberRole.OWNER}
    return {"organisation": organisation, "tab": tab} | rights
