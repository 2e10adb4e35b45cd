"""The pages about metrics and the data endpoint say what the code does."""

import json
import re
from pathlib import Path

import pytest

from onlooker.data import app, context, openapi, query
from onlooker.errors import Code
from onlooker.metrics import query as metrics_query
from onlooker.metrics import rollup
from onlooker.metrics.coverage import Absence
from onlooker.metrics.definitions import (
    AGE_KNOWN_ABOVE,
    GENDER_KNOWN_ABOVE,
    METRICS,
    SHORTEST_PRESENCE_S,
)
from onlooker.metrics.extensions import EXTENSIONS
from onlooker.metrics.query import PAGE_BUCKETS, Time
from onlooker.settings import Settings
from onlooker_pipeline.visits.visit import SHORTEST_LOOK_S, SHORTEST_STOP_S, Visit
from testkit.oracle import SECOND_US, judge

DOCS = Path(__file__).resolve().parents[3] / "docs"
SETTINGS = Settings()


def text_of(page: str) -> str:
    return (DOCS / f"{page}.md").read_text(encoding="utf-8")


def words_of(page: str) -> str:
    """A page as one line, so that a sentence may go over two."""
    return " ".join(text_of(page).split())


SENTENCES = {
    "guides/data": [
        f"A page has {PAGE_BUCKETS} buckets.",
        f"A query has at most {query.QUERY_LIMIT_BYTES // 1024} KiB.",
        f"Dates must be in the years {metrics_query.EARLIEST.year} to {metrics_query.LATEST.year}.",
        f"Responses of {app.COMPRESSED_FROM_BYTES:,} bytes and more are compressed",
        f"{SETTINGS.data_rate_limit_per_second:g} a second, {SETTINGS.data_rate_limit_burst} at once",
        f"| concurrent queries | {SETTINGS.data_requests_limit}, at most half of them for one stream |",
        f"| time a request waits for its query to start | {context.WAIT_LIMIT_S:g} seconds |",
        f"| database time of one page | {SETTINGS.data_time_limit_s:g} seconds |",
        f"in view for at least {SHORTEST_PRESENCE_S} second",
        f"stopped for at least {SHORTEST_STOP_S} seconds at a stretch",
        f"looked at the camera for more than {SHORTEST_LOOK_S} second in all",
        f"Senior from {SETTINGS.senior_age:g} years on",
        *(f"| `{name}` | yes |" for name in ("metrics", "from_date")),
        *(f"| `{name}` | no |" for name in query.PARAMETERS if name not in ("metrics", "from_date")),
        *(f"`{time}`" for time in Time),
        *(f"| `{code}` |" for code in (Code.BAD_REQUEST, Code.MISSING_TOKEN, Code.INVALID_JWT, Code.EXPIRED_JWT)),
    ],
    "concepts/metrics": [
        f"present for at least {SHORTEST_PRESENCE_S} second in all",
        f"one still interval of at least {SHORTEST_STOP_S} seconds, and looked for more than {SHORTEST_LOOK_S} second",
        f"its confidence is above {GENDER_KNOWN_ABOVE} | `?`",
        f"its confidence is above {AGE_KNOWN_ABOVE}: an error",
        f"{SETTINGS.senior_age:g} unless it is set",
        f"looks every {rollup.CHECK_EVERY_S:g} seconds for marks that are {rollup.DUE_S:g} seconds old",
        f"takes up to {rollup.SLOTS_AT_ONCE}",
    ],
    "concepts/coverage": [f"| `{absence}` |" for absence in Absence],
}


@pytest.mark.parametrize(("page", "sentence"), [(page, one) for page, all_ in SENTENCES.items() for one in all_])
def test_a_page_about_numbers_says_what_the_code_does(page: str, sentence: str) -> None:
    assert sentence in words_of(page)


def test_the_guide_explains_every_metric_and_no_other() -> None:
    assert metrics_explained("What the numbers mean") == sorted(METRICS)
    assert metrics_explained("What was watched") == sorted(EXTENSIONS)


def metrics_explained(section: str) -> list[str]:
    table = text_of("guides/data").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    return sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))


def test_the_answer_in_the_guide_is_the_one_that_the_openapi_document_shows() -> None:
    text = text_of("guides/data")
    shown = re.search(r"<!-- answer -->\n```json\n(.*?)```\n<!-- /answer -->", text, re.DOTALL)
    assert shown
    assert json.loads(shown[1]) == openapi.EXAMPLE_ANSWER
    asked = [f"metrics={','.join(openapi.EXAMPLE_REQUEST['metrics'])}"]
    asked += [f"{name}={openapi.EXAMPLE_REQUEST[name]}" for name in ("from_date", "to_date", "time", "tz")]
    assert [one for one in asked if one not in text] == []


def rows_of_the_example() -> list[list[str]]:
    section = text_of("concepts/metrics").partition("\nAn example.")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d\d:.*) \|$", section, re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in rows]


def at_us(clock: str) -> int:
    """A time of a day, in microseconds since its midnight."""
    hours, minutes, seconds = clock.split(":")
    return int((int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * SECOND_US)


def interval(begins: str, ends: str) -> tuple[int, int]:
    return at_us(begins) // 1000, at_us(ends) // 1000


def person_of_the_example() -> Visit:
    """As the sentence before the table tells it."""
    told = words_of("concepts/metrics").partition("An example.")[2].partition(" | ")[0]
    moments = re.findall(r"\d\d:\d\d:\d\d", told)
    present, still, looking = (interval(*moments[place : place + 2]) for place in (0, 2, 4))
    return Visit(b"0" * 16, 1, "", 1, True, [present], [still], [looking])


@pytest.mark.parametrize("row", rows_of_the_example(), ids=lambda row: f"{row[0]} to {row[1]}")
def test_the_worked_example_of_a_visit_that_a_range_cuts_is_right(row: list[str]) -> None:
    from_clock, to_clock, present, stop, looked, passing, interested, *hour = row
    judged = judge(person_of_the_example(), at_us(from_clock), at_us(to_clock))
    if judged is None:
        assert (present, passing, interested, hour) == ("0 s", "no", "no", [""])
        return
    seconds = [one / SECOND_US for one in (judged.present_us, judged.longest_still_us, judged.looking_us)]
    assert [f"{one:g} s" for one in seconds] == [present, stop, looked]
    assert [judged.passed_by, judged.interested] == [passing == "yes", interested == "yes"]
    assert hour == [f"{judged.first_us // SECOND_US // 3600}:00"]


def test_the_worked_example_has_all_kinds_of_ranges() -> None:
    verdicts = {(row[5], row[6]) for row in rows_of_the_example()}
    assert verdicts == {("yes", "yes"), ("yes", "no"), ("no", "no")}
