"""A console without Stripe's library, which only the extra `billing` brings."""

import os
import subprocess
import sys

pytest_plugins = ["pages"]

WITHOUT_LIBRARY = "import sys; sys.modules['stripe'] = None\n"
LOAD_CONSOLE = """
import pkgutil
from importlib import import_module

import django

django.setup()
import onlooker.console
from django.contrib import admin
from django.core.management import call_command
from django.urls import resolve, reverse

for module in pkgutil.walk_packages(onlooker.console.__path__, "onlooker.console."):
    import_module(module.name)
call_command("check")
admin.autodiscover()
assert resolve("/billing/webhook/").view_name == "billing-webhook"
assert reverse("billing") == "/billing/"

from onlooker.console.billing.configuration import require_billing_settings
from onlooker.settings import Settings, SettingsError

require_billing_settings(Settings())
keys = {"stripe_secret_key": "sk_x", "stripe_webhook_secret": "whsec_x", "stripe_price": "price_x"}
try:
    require_billing_settings(Settings(**keys))
except SettingsError as error:
    print(error)
"""
KEYS = {
    "ONLOOKER_STRIPE_SECRET_KEY": "sk_test_of_nobody",
    "ONLOOKER_STRIPE_WEBHOOK_SECRET": "whsec_of_nobody",
    "ONLOOKER_STRIPE_PRICE": "price_of_nobody",
}
REMEDY = (
    "ONLOOKER_STRIPE_SECRET_KEY is set, and stripe is not installed. Install what requirements-billing.txt of the "
    "release names. To run without billing, unset ONLOOKER_STRIPE_SECRET_KEY."
)


def run_without_library(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
    environment |= {"ONLOOKER_HOME": "/nonexistent", "ONLOOKER_SECRET_KEY": "long enough for a test " * 3} | variables
    command = [sys.executable, "-c", WITHOUT_LIBRARY + script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)


def test_all_of_the_console_loads_without_it_and_only_the_keys_ask_for_it() -> None:
    done = run_without_library(LOAD_CONSOLE, DJANGO_SETTINGS_MODULE="onlooker.console.web.settings")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == REMEDY


def test_a_console_with_keys_says_when_it_starts_what_to_install(database_url: str) -> None:
    script = "from onlooker.cli import main; main(['console'])"
    done = run_without_library(script, ONLOOKER_DATABASE_URL=database_url, **KEYS)
    assert done.returncode == 2
    assert f"onlooker: {REMEDY}" in done.stderr
    assert not any(value in done.stdout + done.stderr for value in KEYS.values())
