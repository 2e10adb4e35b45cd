"""The sentences of scripts, in the language that their address names: any cache may keep them."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils import translation
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.i18n import JavaScriptCatalog

_write = JavaScriptCatalog.as_view(packages=["onlooker.console"])
KEPT_S = 86_400


@require_safe
@cache_control(max_age=KEPT_S, public=True)
def show_words(request: HttpRequest, language: str) -> HttpResponseBase:
    """Pages name their own language, and the release."""
    if language not in dict(settings.LANGUAGES):
        raise Http404
    with translation.override(language):
        words = _write(request)
    words["Content-Language"] = language
    return words
