"""In which language a notice is: the one that a link names, else the reader's."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language, get_supported_language_variant


def named_language(request: HttpRequest, otherwise: str) -> str:
    """That of a link's `?language=`, if the console has it."""
    try:
        return get_supported_language_variant(request.GET.get("language", "").lower())
    except LookupError:
        return otherwise


def active_language() -> str:
    return get_language() or settings.LANGUAGE_CODE


def base_language() -> str:
    """The active one without its country: `en`."""
    return active_language().partition("-")[0]
