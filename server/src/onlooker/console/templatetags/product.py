"""Facts about this server for templates."""

from functools import cache
from importlib.metadata import version

from django.conf import settings
from django.template import Library

from onlooker.console.accounts.adapter import is_signup_open

register = Library()


@register.simple_tag
@cache
def product_version() -> str:
    return version("onlooker")


@register.simple_tag
def signup_is_open() -> bool:
    return is_signup_open()


@register.simple_tag
def offers_authority() -> bool:
    """Whether devices need our certificate authority to trust this server."""
    return bool(settings.ONLOOKER.authority_file)
