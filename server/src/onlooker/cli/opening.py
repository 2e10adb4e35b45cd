"""Django, for the commands that need it and no others: it takes a second to load."""

import os

from onlooker.settings import Settings, read_settings


def open_django() -> Settings:
    import django

    os.environ["DJANGO_SETTINGS_MODULE"] = "onlooker.console.settings"
    django.setup()
    return read_settings()
