"""Prints the operations of the management interface as JSON, from Django."""

import json
import os

import django


def main() -> None:
    for name in [name for name in os.environ if name.startswith("ONLOOKER_")]:
        del os.environ[name]
    os.environ |= {"ONLOOKER_SECRET_KEY": "unused", "DJANGO_SETTINGS_MODULE": "onlooker.console.web.settings"}
    django.setup()
    from onlooker.console.api.openapi import describe_rights
    from onlooker.console.api.operations import CHAPTERS

    said = {
        chapter: [[f"{one.method} {one.url}", one.summary, describe_rights(one)] for one in operations]
        for chapter, operations in CHAPTERS.items()
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
