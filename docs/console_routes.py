"""Prints the path and name of every route of the console, from Django."""

import os
import re
from collections.abc import Iterator

import django
from django.urls import URLPattern, URLResolver, get_resolver

STAFF = "staff/"
"""Django's admin: its many pages are listed as one."""
API = "api/v1/"
"""Its operations are in a page of their own."""
API_PAGES = ("api-reference", "api-openapi")


def routes_of(resolver: URLResolver, beginning: str = "") -> Iterator[tuple[str, str]]:
    for one in resolver.url_patterns:
        path = f"{beginning}{one.pattern}"
        if isinstance(one, URLPattern) and path.startswith(API) and one.name not in API_PAGES:
            yield f"{API}...", "api-..."
        elif isinstance(one, URLPattern):
            yield path, one.name or ""
        elif path == STAFF:
            yield f"{STAFF}...", "admin:..."
        else:
            yield from routes_of(one, path)


def plain_path(path: str) -> str:
    """Django's typed or regular-expression path in plain form, such as `/streams/{client_id}/`."""
    path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", re.sub(r"\(\?P(<\w+>)[^)]*\)", r"\1", path))
    return "/" + path.replace("^", "").replace("$", "")


def main() -> None:
    for name in [name for name in os.environ if name.startswith("ONLOOKER_")]:
        del os.environ[name]
    os.environ |= {"ONLOOKER_SECRET_KEY": "unused", "DJANGO_SETTINGS_MODULE": "onlooker.console.web.settings"}
    django.setup()
    listed = set()
    for path, name in routes_of(get_resolver()):
        if name and name not in listed:  # some appear twice
            listed.add(name)
            print(plain_path(path), name)


if __name__ == "__main__":
    main()
