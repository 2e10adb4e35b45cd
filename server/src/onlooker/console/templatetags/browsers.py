"""`{{ session.user_agent|browser_name }}`: `Firefox on Windows`, of what a browser says about itself."""

from django import template
from django.utils.text import Truncator
from django.utils.translation import gettext as _

register = template.Library()
LONGEST_SHOWN = 40
_BROWSERS = {
    "Edg": "Edge",
    "OPR/": "Opera",
    "SamsungBrowser/": "Samsung Internet",
    "Firefox/": "Firefox",
    "FxiOS/": "Firefox",
    "Chrome/": "Chrome",
    "CriOS/": "Chrome",
    "Safari/": "Safari",
}
"""The first one whose mark is there: most say that they are Chrome and Safari as well."""
_SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "CrOS": "ChromeOS",
    "Macintosh": "macOS",
    "Linux": "Linux",
}
"""Likewise: Android says that it is Linux, and an iPhone that it is like a Mac."""


@register.filter
def browser_name(user_agent: str) -> str:
    """The text itself, cut short, of what is not known."""
    browser, system = (_find(names, user_agent) for names in (_BROWSERS, _SYSTEMS))
    if browser and system:
        return _("{browser} on {system}").format(browser=browser, system=system)
    return browser or Truncator(user_agent).chars(LONGEST_SHOWN)


def _find(names: dict[str, str], user_agent: str) -> str:
    return next((name for mark, name in names.items() if mark in user_agent), "")
