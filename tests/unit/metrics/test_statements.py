"""Statements are put together from the parts in SQL files, and nothing of a part is left over."""

import re
from importlib import resources
from itertools import combinations

import pytest

from onlooker.database import load_queries, load_sql_parts
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.statements import (
    VALUES,
    compile_filling,
    compile_grid_statement,
    compile_quick_statement,
    compile_statement,
)
from onlooker.slots import SLOT, SLOT_IN_SQL, SLOT_S

FILES = [
    *("judged_visits", "page", "rollup", "marks", "coverage", "comparison", "cells", "in_view", "quality", "hour_sums"),
    *("device_share", "blocks", "block_release", "erasure", "days", "fleet", "pooled_figures", "weeks", "week_release"),
]
SETS = [*combinations(METRICS, 1), ("interested", "gender"), tuple(METRICS)]


@pytest.mark.parametrize("metrics", SETS)
@pytest.mark.parametrize("short", [False, True])
def test_a_statement_has_its_parameters_and_no_part_that_is_not_filled_in(
    metrics: tuple[str, ...], short: bool
) -> None:
    for compiling in (compile_statement, compile_quick_statement, compile_grid_statement):
        statement = compiling(metrics, short=short).decode()
        values = VALUES if compiling is compile_statement else VALUES[:-1]
        numbers = {int(number) for number in re.findall(r"\$(\w+)", statement)}
        assert numbers <= set(range(1, len(values) + 1))
        assert compiling is not compile_statement or len(numbers) == len(VALUES)
        assert f"${1 + values.index('edges_s')}::" in statement, "PostgreSQL needs to know the type of a text"
        assert not re.search(r"[{}]", statement)
        assert statement.count("(") == statement.count(")")


def test_only_the_full_statement_reads_visits() -> None:
    assert b"FROM visits_visit" in compile_statement(("interested",), short=False)
    assert b"FROM visits_visit" not in compile_quick_statement(("interested",), short=False)


def test_blocks_are_read_only_where_something_about_people_is_asked_for() -> None:
    for compiling in (compile_statement, compile_quick_statement, compile_grid_statement):
        assert b"metrics_block" not in compiling(("passing_by", "interested"), short=False)
        assert b"metrics_block" in compiling(("interested", "gender"), short=True)


def test_filling_cuts_no_visit() -> None:
    assert "$" not in compile_filling()
    assert "tstzmultirange(" not in compile_filling()


def test_every_part_has_a_name_and_a_description() -> None:
    folder = resources.files("onlooker.metrics").joinpath("sql")
    assert sorted(file.name for file in folder.iterdir()) == sorted(f"{name}.sql" for name in FILES)
    for name in FILES:
        headings = re.findall(r"^-- name: .*$", folder.joinpath(f"{name}.sql").read_text(), flags=re.MULTILINE)
        assert headings
        assert all(re.fullmatch(r"-- name: \w+  \S.+", heading) for heading in headings), headings
        assert len(headings) == len(load_sql_parts("onlooker.metrics", f"sql/{name}.sql"))


def test_the_length_of_a_slot_stands_in_no_file_of_queries() -> None:
    assert {"slot": f"interval '{SLOT.seconds // 60} minutes'", "slot_s": str(SLOT_S)} == SLOT_IN_SQL
    for package in ("audit", "devices", "keys", "gateway", "streams", "visits", "metrics", "console"):
        for file in resources.files(f"onlooker.{package}").iterdir():
            folder = [file] if file.is_file() else file.iterdir()
            for one in folder:
                if one.name.endswith(".sql"):
                    assert not re.search(r"\b(900|15 min\w*|14 min\w*)\b", one.read_text()), one.name


def test_a_description_is_not_sent_and_the_slot_is_filled_in() -> None:
    query = load_queries("onlooker.metrics", "sql/coverage.sql")["read_coverage"]
    assert query.startswith("WITH given")
    assert f"least(video_s, {SLOT_S})" in query
    assert "$" not in query
