"""Who acts: declared for a transaction, so that the database's own triggers can log it."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, transaction

BILLING = "billing"
CHORE = "chore"
_DECLARE = "SELECT set_config('onlooker.actor', %s, true)"


def account_actor(account_id: int) -> str:
    return f"account:{account_id}"


def staff_actor(account_id: int) -> str:
    """An account on the staff pages."""
    return f"staff:{account_id}"


def key_actor(key_id: int) -> str:
    """A program with a key of an organisation."""
    return f"key:{key_id}"


def command_actor() -> str:
    """Somebody at the command line, by the name that the system has for them."""
    try:
        return f"command:{getpass.getuser()}"
    except (KeyError, OSError):
        return "command:"


@contextmanager
def acting_as(actor: str) -> Iterator[None]:
    """A transaction, or part of one, in which changes are logged as this actor's."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(_DECLARE, [actor])
        yield
