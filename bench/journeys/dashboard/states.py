"""Pictures and checks of every state that a dashboard can be in, on screens and on paper."""

from datetime import UTC, datetime, timedelta

from bench.journeys.dashboard.page import settle
from bench.journeys.dashboard.stage import YEAR_DAYS, Stage, dashboard_path
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import print_pages
from bench.lib.browser.pictures import viewing

_TABLES = "document.querySelectorAll('details.as-table').forEach((one) => { one.open = arguments[0]; })"


def look_at_states(stage: Stage) -> list[JourneyFigure]:
    """Few points and many, with tables open, a range that is none, and years with nothing in them."""
    world, today = stage.world, datetime.now(UTC).date()
    stage.open_dashboard(world.shop, period="7d")
    stage.look("week")
    for name, screen, period in (
        ("today", world.shop, {"period": "today"}),
        ("month", world.museum, {"period": "30d"}),
        ("year", world.year, {"from_": str(today - timedelta(days=YEAR_DAYS)), "to": str(today)}),
        ("before-everything", world.shop, {"from_": "2020-02-01", "to": "2020-02-29"}),
    ):
        stage.open_dashboard(screen, **period)
        stage.look(name, alike=True)
    stage.open_dashboard(world.shop, period="3d")
    stage.person.browser.execute_script(_TABLES, True)
    stage.look("tables")
    stage.person.open(dashboard_path(world.shop, from_="2026-13-01", to="tomorrow"))
    stage.person.wait(lambda: bool(stage.person.text("#report .trouble")), "word of what is wrong")
    stage.look("no-such-range", alike=True)
    return []


def look_at_empty(stage: Stage) -> list[JourneyFigure]:
    """A stream that never sent a frame."""
    shown = stage.open_dashboard(stage.world.empty)
    stage.check(shown.headlines["passing_by"].value in ("0", ""), f"empty: {shown.headlines['passing_by']}")
    stage.check(shown.headlines["conversion"].value == "", f"empty: {shown.headlines['conversion']}")
    stage.check("Set up" in shown.words, f"empty: nothing leads to the set-up: {shown.words[:300]}")
    stage.look("empty")
    return []


def print_reports(stage: Stage) -> list[JourneyFigure]:
    """Each on one sheet, from a light screen and from a dark one."""
    most, browser = 0, stage.person.browser
    for screen, period in ((stage.world.shop, "7d"), (stage.world.museum, "30d"), (stage.world.shop, "3d")):
        stage.open_dashboard(screen, period=period)
        for scheme in ("light", "dark"):
            path = stage.pictures / f"print-{period}-{scheme}.pdf"
            with viewing(browser, scheme=scheme):
                settle(browser)
                most = max(most, print_pages(browser, path))
    return [JourneyFigure("print_sheets", most, at_most=1, at_least=1)]
