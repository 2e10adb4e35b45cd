"""Prints path and name of every route of the console, as Django knows them."""

import os
import re
from collections.abc import Iterator

import django
from django.urls import URLPattern, URLResolver, get_resolver

STAFF = "staff/"
"""Django's admin: its many pages are told of as one."""


def routes_of(resolver: URLResolver, beginning: str = "") -> Iterator[tuple[str, str]]:
    for one in resolver.url_patterns:
        path = f"{beginning}{one.pattern}"
        if isinstance(one, URLPattern):
            yield path, one.name or ""
        elif path == STAFF:
            yield f"{STAFF}...", "admin:..."
        else:
            yield from routes_of(one, path)


def as_read(path: str) -> str:
    """`/streams/{client_id}/` for what Django writes with types, or as a regular expression."""
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", path))
    return "/" + path.replace("^", "").replace("$", "")


def main() -> None:
    for name in [name for name in os.environ if name.startswith("ONLOOKER_")]:
        del os.environ[name]
    os.environ |= {"ONLOOKER_SECRET_KEY": "of no use", "DJANGO_SETTINGS_MODULE": "onlooker.console.settings"}
    django.setup()
    told = set()
    for path, name in routes_of(get_resolver()):
        if name and name not in told:  # some are there twice, the token endpoint also without its last slash
            told.add(name)
            print(as_read(path), name)


if __name__ == "__main__":
    main()
