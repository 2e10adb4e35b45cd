"""A plugin: a migrated database, empty for each test."""

from collections.abc import Iterator

import pytest

from recorder_process import empty
from testkit import migrated_database


@pytest.fixture(scope="module")
def database() -> Iterator[str]:
    with migrated_database() as made:
        yield made


@pytest.fixture
def url(database: str) -> str:
    empty(database)
    return database
