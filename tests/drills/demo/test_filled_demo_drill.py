"""A database that is filled for the demo: numbers and gaps as the product itself would have written them."""

from dataclasses import replace
from typing import Any

import psycopg

from onlooker.demo import PLACES, fill_demo

pytest_plugins = ["migrated"]
QUIET = [replace(place, people_a_day=40) for place in PLACES]


def read(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def test_the_owner_can_sign_in_with_the_password(url: str) -> None:
    fill_demo(url, days=1, places=QUIET[:1], owner="person@example.org", password="ein-pfad-aus-9-steinen")
    [(password, is_active, verified)] = read(
        url,
        "SELECT password, is_active, verified FROM accounts_account account JOIN account_emailaddress address "
        "ON address.user_id = account.id WHERE account.email = 'person@example.org'",
    )
    assert not password.startswith("!")
    assert (is_active, verified) == (True, True)
