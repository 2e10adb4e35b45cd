"""Django's settings of the database and of e-mail, from two URLs."""

from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from onlooker.database import VANISHED_SERVER
from onlooker.settings import Settings, SettingsError, variable_name

SMTP_TIME_LIMIT_S = 15
"""How long a mail server may take to respond."""


def database_settings(settings: Settings) -> dict[str, Any]:
    """Parsed by psycopg, so that all processes connect to the same server."""
    try:
        options: dict[str, Any] = conninfo_to_dict(settings.database_url)
    except psycopg.ProgrammingError as error:
        name = variable_name("database_url")
        raise SettingsError(
            f"{name} can't be read ({str(error).strip()}). Percent-encode special characters."
        ) from None
    names = {"NAME": "dbname", "HOST": "host", "PORT": "port", "USER": "user", "PASSWORD": "password"}
    return {
        "ENGINE": "django.db.backends.postgresql",
        **{ours: options.pop(theirs, "") for ours, theirs in names.items()},
        "CONN_HEALTH_CHECKS": True,
        "DISABLE_SERVER_SIDE_CURSORS": True,  # they would need the same connection of a pooler
        "OPTIONS": VANISHED_SERVER | options,
    }


def email_settings(settings: Settings) -> dict[str, Any]:
    address = _split_email_url(settings.email_url)
    shared = {"DEFAULT_FROM_EMAIL": settings.email_from, "SERVER_EMAIL": settings.email_from}
    if not address.scheme:
        return shared | {"EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend"}
    if address.scheme == "file":
        return shared | {
            "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
            "EMAIL_FILE_PATH": unquote(address.path),
        }
    is_smtps = address.scheme == "smtps"
    return shared | {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": address.hostname or "127.0.0.1",
        "EMAIL_PORT": address.port or (465 if is_smtps else 587),
        "EMAIL_HOST_USER": unquote(address.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(address.password or ""),
        "EMAIL_USE_SSL": is_smtps,
        "EMAIL_USE_TLS": not is_smtps and parse_qs(address.query).get("tls") != ["no"],
        "EMAIL_TIMEOUT": SMTP_TIME_LIMIT_S,
    }


def _split_email_url(email_url: str) -> SplitResult:
    address = urlsplit(email_url)
    try:
        is_whole = address.port is None or bool(address.hostname)
    except ValueError:
        is_whole = False
    if not is_whole or address.fragment:
        name = variable_name("email_url")
        raise SettingsError(f"{name} can't be read. Percent-encode special characters in user and password: # is %23.")
    return address
