"""Empties the console's tables after a test that committed.

Django's `flush` truncates all tables, also those without a row, and then creates permissions and content types again.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest

KEPT = {"auth_permission", "django_content_type"}
"""What `flush` creates again, always the same."""


@contextmanager
def quick_flush() -> Iterator[None]:
    """Tests in this process empty tables this way; a user who may not switch triggers off has Django's own way."""
    from django.db import connection
    from django.test import TransactionTestCase

    flush = TransactionTestCase._fixture_teardown

    def empty_tables(case: Any) -> None:
        if _may_switch_triggers_off() and case.available_apps is None:
            _delete_rows(connection)
        else:
            flush(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty_tables)
        yield


@cache
def _may_switch_triggers_off() -> bool:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        return bool(cursor.fetchone()[0])


@cache
def _statement() -> str:
    from django.db import connection

    tables = connection.introspection.django_table_names(only_existing=True, include_views=False)
    deleted = [f"DELETE FROM {connection.ops.quote_name(table)}" for table in sorted(tables) if table not in KEPT]
    return "; ".join(["SET LOCAL session_replication_role = replica", *deleted])


def _delete_rows(connection: Any) -> None:
    """No trigger fires: neither one that keeps a log whole, nor one that looks for rows that refer to another."""
    from django.db import transaction

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(_statement())
