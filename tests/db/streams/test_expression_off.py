"""The migration that switches expression off for new streams leaves the streams that exist as they are."""

from collections.abc import Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from console_role import grant_again

BEFORE, AFTER = ("streams", "0004_trial_tokens"), ("streams", "0005_expression_off")
MAKE = """
INSERT INTO streams_stream (owner_id, name, client_id, kind, enabled, created_at, removed_at)
VALUES (NULL, %s, gen_random_uuid(), 'developer', true, now(), now())"""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def executor() -> Iterator[MigrationExecutor]:
    """At the migration before; whatever happens, at the newest one afterwards."""
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate([BEFORE])
    try:
        yield MigrationExecutor(connection)
    finally:
        MigrationExecutor(connection).migrate(newest)
        grant_again()


def test_streams_that_exist_go_on_reading_expression_and_new_ones_do_not(executor: MigrationExecutor) -> None:
    with connection.cursor() as cursor:
        cursor.execute(MAKE, ["old"])
        executor.migrate([AFTER])
        cursor.execute(MAKE, ["new"])
        cursor.execute("SELECT name, reads_age, reads_gender, reads_expression FROM streams_stream ORDER BY id")
        assert cursor.fetchall() == [("old", True, True, True), ("new", True, True, False)]
