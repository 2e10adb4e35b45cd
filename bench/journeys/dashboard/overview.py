"""The overview of all streams of an account: its numbers, its order, and a page of thirty."""

import statistics
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from bench.journeys.dashboard.changes import check_change, read_past
from bench.journeys.dashboard.comparison import compare_report, is_told, number_of, reads_as
from bench.journeys.dashboard.stage import COLLECTOR, VIEWER, Screen, Stage, dashboard_path, open_source
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import console_errors
from bench.lib.clients import OWNER
from testkit.like_time import SLOT, WATCHED_FROM_S

PERCENT = {"conversion": 100}
_ROWS = """
return [...document.querySelectorAll("#streams tr[data-stream]")].map((row) => ({
    stream: row.dataset.stream,
    from: row.dataset.from,
    to: row.dataset.to,
    text: row.innerText,
    bars: [...row.querySelectorAll("svg.spark title")].map((title) => title.textContent),
    numbers: Object.fromEntries([...row.querySelectorAll("[data-metric]")].map((cell) => [
        cell.dataset.metric, [cell.dataset.value, (cell.querySelector("strong") ?? cell).innerText],
    ])),
    changes: Object.fromEntries([...row.querySelectorAll("[data-metric]")].map((cell) => [
        cell.dataset.metric,
        [cell.querySelector("[data-change]")?.dataset.change ?? "", cell.querySelector("small")?.innerText ?? ""],
    ])),
    watched: row.querySelector("[data-watched-s]")?.dataset.watchedS,
    place: row.querySelector(".rank")?.innerText ?? "",
}));
"""
_TIMED = """
const done = arguments[0];
const began = performance.now();
fetch(location.href).then((answer) => answer.text()).then(() => done(performance.now() - began));
"""


def look_over_streams(stage: Stage) -> list[JourneyFigure]:
    """The owner's few streams, then the collector's many; the owner is back in the end."""
    stage.person.open("/streams/")
    own = {screen.client_id: screen for screen in (*stage.world.filled, stage.world.empty, stage.world.live)}
    compare_rows(stage, own, OWNER)
    stage.look("overview")
    stage.sign_in(COLLECTOR)
    stage.person.open("/streams/?sort=passing_by")
    rows = compare_rows(stage, {screen.client_id: screen for screen in stage.world.many}, COLLECTOR)
    numbers = [float(row["numbers"]["passing_by"][0] or -1) for row in rows]
    stage.check(all(one >= other for one, other in pairwise(numbers)), f"overview: not in order: {numbers}")
    stage.look("overview-of-many")
    times_ms = [stage.person.browser.execute_async_script(_TIMED) for _ in range(stage.repeats)]
    stage.sign_in(OWNER)
    return [
        JourneyFigure("overview_streams", len(rows), at_least=len(stage.world.many)),
        JourneyFigure("overview_of_many_ms", round(statistics.median(times_ms), 1)),
    ]


def compare_rows(stage: Stage, screens: dict[str, Screen], username: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = stage.person.browser.execute_script(_ROWS)
    stage.compare({row["stream"] for row in rows}, set(screens), "overview, streams")
    for row in rows:
        screen = screens[row["stream"]]
        source = open_source(stage.stack, screen, username=username)
        totals = source.totals(row["from"], row["to"])
        for name, (value, text) in row["numbers"].items():
            asked = number_of(name, totals) if is_told(name, totals) else None
            where = f"overview, {screen.name} {name}"
            stage.compare(float(value) if value else None, asked, where)
            is_unwatched = not any(char.isdigit() for char in text) and not asked
            right = is_unwatched or reads_as(text, asked, PERCENT.get(name, 1))
            stage.check(right, f"{where}: {asked} is written as {text!r}")
        compare_row_changes(stage, row, screen)
        compare_bars(stage, row, source.ask(row["from"], row["to"], time="by_day", metrics=("passing_by",)), screen)
        source.client.close()
    return rows


def compare_row_changes(stage: Stage, row: dict[str, Any], screen: Screen) -> None:
    """Its changes, and how much was watched: slots of which at least 90 % were."""
    from_at, to_at = (datetime.fromisoformat(row[name]).astimezone(UTC) for name in ("from", "to"))
    past = read_past(stage, screen)
    expected = past.compare(from_at, to_at)
    for name, found in row["changes"].items():
        check_change(stage, name, expected, tuple(found), f"overview, {screen.name} {name} change")
    watched = sum(
        slot >= from_at and slot + SLOT <= to_at and video_s >= WATCHED_FROM_S
        for slot, video_s in past.covered_s.items()
    )
    stage.compare(int(row["watched"]), 900 * watched, f"overview, {screen.name} watched seconds")


NOT_CREATED = "before the stream was created"


def compare_bars(stage: Stage, row: dict[str, Any], days: dict[str, Any], screen: Screen) -> None:
    """A day that was watched says its number, another one why it has none."""
    asked = [day["passing_by"]["value"] for day in days.values()]
    stage.compare(len(row["bars"]), len(asked), f"overview, days of {screen.name}")
    for words, value in zip(row["bars"], asked, strict=False):
        said = words.partition(": ")[2]
        is_number = said[:1].isdigit() and NOT_CREATED not in said
        right = reads_as(said, value) if is_number else not value
        stage.compared += 1
        stage.check(right, f"overview, {screen.name}: a day with {value} is {words!r}")


OWNERS_PAGES = ("settings/", "rotate/", "members/", "remove/", "try/")
_LINKS = "return [...document.querySelectorAll('a[href], form[action]')].map((one) => one.href ?? one.action)"
_STATUS = "const [url, done] = arguments; fetch(url).then((answer) => done(answer.status))"


def look_as_viewer(stage: Stage) -> list[JourneyFigure]:
    """The dashboard of a shared stream, and what is not there for a viewer; then the owner is back."""
    shop, browser = stage.world.shop, stage.person.browser
    stage.sign_in(VIEWER)
    shown = stage.open_dashboard(shop, period="7d")
    compare_report(stage, shown, open_source(stage.stack, shop), "viewer 7d")
    links = browser.execute_script(_LINKS)
    for page in OWNERS_PAGES:
        path = f"/streams/{shop.client_id}/{page}"
        stage.check(not any(path in link for link in links), f"viewer: there is a link to {page}")
        status = browser.execute_async_script(_STATUS, path)
        stage.check(status == 404, f"viewer: {page} answers {status}")
    for path in ("", "table.csv", "live/"):
        status = browser.execute_async_script(_STATUS, f"{dashboard_path(stage.world.museum)}{path}")
        stage.check(status == 404, f"viewer: {path or 'the dashboard'} of another stream answers {status}")
    console_errors(browser)  # the 404s
    stage.look("viewer")
    stage.sign_in(OWNER)
    return [JourneyFigure("viewer_pages_closed", len(OWNERS_PAGES))]
