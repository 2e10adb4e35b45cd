"""The console's settings for tests within this process: a database, a home and mails of their own."""

import os

from testkit.postgresql import server_url

_TEST = {
    "ONLOOKER_DATABASE_URL": server_url(),  # pytest-django makes a database beside it, named test_...
    "ONLOOKER_HOME": "/nonexistent",
    "ONLOOKER_SECRET_KEY": "a secret of the tests that is long enough for all the checks there are",
    "ONLOOKER_EMAIL_URL": "smtp://127.0.0.1:25?tls=no",
    "ONLOOKER_CONSOLE_URL": "https://console.example.org",
    "ONLOOKER_PUBLIC_URL": "https://gate.example.org",
}
_before = dict(os.environ)
os.environ.update(_TEST)
from onlooker.console.web.settings import *  # noqa: E402, F403

os.environ.clear()
os.environ.update(_before)

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # a slow one is tested where it matters
DATABASES["default"]["TEST"] = {"NAME": f"onlooker_test_console_{os.getpid()}"}  # noqa: F405
