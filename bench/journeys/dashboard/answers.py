"""How each question is answered in the console, and what the data endpoint says to it."""

import csv
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pyarrow import parquet
from selenium.webdriver.common.by import By

from bench.journeys.dashboard.analyst import Analyst
from bench.journeys.dashboard.breakdowns import (
    SameVisits,
    place_of_segment,
    read_section,
)
from bench.journeys.dashboard.changes import FEWEST_PEOPLE
from bench.journeys.dashboard.comparison import HEADLINES, PERCENT, is_told, number_of
from bench.journeys.dashboard.lines import is_open, opening_hours
from bench.journeys.dashboard.page import Shown, read_page
from bench.journeys.dashboard.stage import DataSource, Screen, Stage
from bench.lib.clients import ENTITIES_CSV
from onlooker.metrics.definitions import METRICS
from onlooker.metrics.dimensions import HOURS, WEEKDAYS
from testkit.like_time import WATCHED_FROM_S
from testkit.mailbox import text_of

DAY, WEEK = timedelta(days=1), timedelta(weeks=1)
COUNTS = ("passing_by", "interested")
CAMPAIGN_DAYS_AGO, CAMPAIGN_WEEKS = 14, 4
OTHER_DATES = "#other-dates > summary"
CLIENT = "client@example.com"
MAIL_LIMIT_S = 180.0
"""Reports that are due are looked for once a minute."""
_ALLOW_OUTSIDE = """
INSERT INTO reports_reportpolicy (organisation_id, allows_outside)
SELECT organisation_id, true FROM streams_stream WHERE id = %s
ON CONFLICT (organisation_id) DO UPDATE SET allows_outside = true RETURNING organisation_id"""
_BRING_FORWARD = "UPDATE reports_mailedreport SET due_at = now() WHERE language = 'fr' RETURNING due_at"


@contextmanager
def open_by_day(stage: Stage) -> Iterator[None]:
    """The shop has opening hours."""
    with opening_hours(stage, stage.world.shop):
        yield


@contextmanager
def mails_outside(stage: Stage) -> Iterator[None]:
    """An owner has once allowed reports to addresses outside."""
    stage.stack.execute(_ALLOW_OUTSIDE, stage.world.shop.id)
    yield


ClockSlot = tuple[datetime, int]
"""What a clock shows, and whether it shows that for the second time."""


def compare_screens(analyst: Analyst) -> None:
    """Over the quarters of an hour that both watched, each by its own clock."""
    screens = (analyst.stage.world.shop, analyst.stage.world.museum)
    for screen in screens:
        analyst.tick(f"#choose-{screen.id}")
    analyst.follow("#compare-chosen")
    now = datetime.now(UTC)
    slots = [_slots(analyst.source(screen), *_days_until(now, screen.zone, 7)) for screen in screens]
    both = set(slots[0]) & set(slots[1])
    people = []
    for screen, found in zip(screens, slots, strict=True):
        row = f'tr[data-row="stream:{screen.client_id}"] [data-metric="{{}}"] strong'
        totals = _add_up(found[slot] for slot in both)
        for metric in COUNTS:
            analyst.hold(analyst.text(row.format(metric)), totals[metric], f"compared, {screen.name} {metric}")
        people.append(totals["passing_by"])
        share = totals["interested"] / totals["passing_by"]
        analyst.hold(analyst.text(row.format("conversion")), share, f"compared, {screen.name}", scale=100)
    ranks = [_rank(analyst, screen) for screen in screens]
    right = ranks[0] <= ranks[1] if people[0] >= people[1] else ranks[1] <= ranks[0]
    analyst.stage.check(right, f"screens with {people} people have ranks {ranks}")


def _rank(analyst: Analyst, screen: Screen) -> str:
    return analyst.text(f'tr[data-row="stream:{screen.client_id}"] [data-metric="passing_by"] .place')


def judge_campaign(analyst: Analyst) -> None:
    """Four weeks from a day on, each quarter of an hour with the one four weeks before."""
    shop = analyst.stage.world.shop
    analyst.open_dashboard(shop)
    analyst.follow("#before-after")
    now, zone = datetime.now(UTC), ZoneInfo(shop.zone)
    began = now.date() - timedelta(days=CAMPAIGN_DAYS_AGO)
    analyst.write("#campaign-date", f"{began:%m/%d/%Y}")
    analyst.follow("#campaign-show")
    length = CAMPAIGN_WEEKS * WEEK
    first = datetime.combine(began, time())
    ends = [(at.replace(tzinfo=zone)).astimezone(UTC) for at in (first - length, first, first + length)]
    source = analyst.source(shop)
    before, after = _slots(source, ends[0], ends[1]), _slots(source, ends[1], min(ends[2], now))
    pairs = [(slot, fold) for slot, fold in after if (slot - length, fold) in before]
    later, earlier = _add_up(after[one] for one in pairs), _add_up(before[slot - length, fold] for slot, fold in pairs)
    for metric in COUNTS:
        cells = analyst.person.browser.find_elements(By.CSS_SELECTOR, f'tr[data-metric="{metric}"] td.number')
        for cell, values, when in zip(cells, (earlier, later), ("before", "after"), strict=True):
            analyst.hold(cell.text, values[metric], f"campaign, {metric} {when}")
    sentence = analyst.text('.sentences li[data-metric="passing_by"]')
    analyst.stage.check(sentence.startswith("Passing by") and sentence.endswith("."), f"campaign: {sentence!r}")


def show_last_month(analyst: Analyst) -> None:
    shop = analyst.stage.world.shop
    analyst.open_dashboard(shop)
    analyst.tick(OTHER_DATES)
    shown = analyst.swap("#period-last-month")
    first = datetime.now(UTC).astimezone(ZoneInfo(shop.zone)).date().replace(day=1)
    analyst.stage.compare(datetime.fromisoformat(shown.to_date).date(), first, "last month, its end")
    _hold_headlines(analyst, shown, analyst.source(shop), "last month")


def find_longest_look(analyst: Analyst) -> None:
    shop = analyst.stage.world.shop
    shown = analyst.open_dashboard(shop)
    read_section(analyst.stage)
    analyst.choose_chart("#who-mean", "attention_time")
    section = analyst.choose_chart("#who-across", "age,gender")
    cells = SameVisits(analyst.source(shop), shown.from_date, shown.to_date, "").cells("age", "gender")
    for row, written in zip(section.data["means"]["rows"], analyst.unfold("means"), strict=True):
        cell = cells[tuple(row["key"].split("."))]
        mean = cell["attention_time"]["value"] if is_told("attention_time", cell) else None
        analyst.hold(written[1], mean, f"attention of {written[0]}")
        analyst.hold(written[3], cell["interested"]["value"], f"number of {written[0]}")


def show_stays(analyst: Analyst) -> None:
    shop = analyst.stage.world.shop
    shown = analyst.open_dashboard(shop)
    section = read_section(analyst.stage)
    cells = SameVisits(analyst.source(shop), shown.from_date, shown.to_date, "").cells("stop_band")
    for (band, *_), written in zip(section.data["stays"]["bands"], analyst.unfold("stays"), strict=True):
        analyst.hold(written[1], cells[(band,)]["interested"]["value"], f"stops of {written[0]}")


def find_best_hours(analyst: Analyst) -> None:
    """Conversion by hour of the week."""
    shop = analyst.stage.world.shop
    shown = analyst.open_dashboard(shop)
    read_section(analyst.stage)
    analyst.choose_chart("#who-heat", "conversion")
    cells = SameVisits(analyst.source(shop), shown.from_date, shown.to_date, "").cells("weekday", "hour_of_day")
    for weekday, row in zip(WEEKDAYS, analyst.unfold("heat"), strict=True):
        for hour, text in zip(HOURS, row[1:], strict=True):
            cell = cells[weekday, hour]
            is_few = cell["passing_by"]["value"] < FEWEST_PEOPLE
            share = None if is_few else number_of("conversion", cell)
            analyst.hold(text, share, f"conversion, {weekday} {hour}:00", scale=100)


def look_back_a_year(analyst: Analyst) -> None:
    """Last week, with the same weekdays 52 weeks earlier as a line behind it."""
    screen = analyst.stage.world.year
    analyst.open_dashboard(screen)
    analyst.tick(OTHER_DATES)
    analyst.swap("#period-last-week")
    shown = analyst.swap_choice("#choice-ghost", "year")
    source, zone = analyst.source(screen), ZoneInfo(screen.zone)
    begins = datetime.fromisoformat(shown.from_date).astimezone(zone).replace(tzinfo=None)
    ends = [(begins + back).replace(tzinfo=zone).astimezone(UTC).isoformat() for back in (-52 * WEEK, -51 * WEEK)]
    now = list(source.ask(shown.from_date, shown.to_date, time="by_day", metrics=COUNTS).values())
    then = list(source.ask(*ends, time="by_day", metrics=COUNTS).values())
    place = next(
        number for number, name in enumerate(shown.charts["time"].head[0]) if "52 weeks" in name or " 20" in name
    )
    for row, today, earlier, point in zip(analyst.unfold("time"), now, then, shown.points, strict=True):
        analyst.hold(row[1], None if point["gap"] else today["passing_by"]["value"], f"last week, {row[0]}")
        analyst.hold(row[place], earlier["passing_by"]["value"], f"a year before, {row[0]}")


def put_two_beside(analyst: Analyst) -> None:
    """How long people stop, and how many are interested, while the shop is open."""
    shop = analyst.stage.world.shop
    analyst.open_dashboard(shop)
    analyst.swap("#choice-hours")
    analyst.swap("#chart-stop_time")
    shown = analyst.swap_choice("#choice-beside", "interested")
    metrics = ("interested", "stop_time")
    quarters = analyst.source(shop).ask(shown.from_date, shown.to_date, time="by_quarter_hour", metrics=metrics)
    for row, point in zip(analyst.unfold("time"), shown.points, strict=True):
        day = datetime.fromisoformat(point["key"]).astimezone(ZoneInfo(shop.zone)).date()
        people, mean = _stops_on(quarters, day, shop.zone)
        analyst.hold(row[1], mean if people >= FEWEST_PEOPLE else None, f"stop time in opening hours, {row[0]}")
        analyst.hold(row[2], None if point["gap"] else people, f"interested in opening hours, {row[0]}")


def _stops_on(quarters: Mapping[str, Any], day: date, zone: str) -> tuple[int, float]:
    inside = [
        values
        for key, values in quarters.items()
        if is_open(key, zone) and datetime.fromisoformat(key).astimezone(ZoneInfo(zone)).date() == day
    ]
    people = sum(values["interested"]["value"] for values in inside)
    seconds = sum(values["interested"]["value"] * (values["stop_time"]["value"] or 0) for values in inside)
    return people, seconds / people if people else 0.0


def keep_to_women(analyst: Analyst) -> None:
    """A click on their bar; the headline numbers are then theirs."""
    shop = analyst.stage.world.shop
    analyst.open_dashboard(shop)
    shown = analyst.swap_at(*place_of_segment(analyst.stage, "female", "25-34"))
    _hold_headlines(analyst, shown, analyst.source(shop), "women of 25 to 34", filter="gender:female,age:25-34")


def take_files(analyst: Analyst) -> None:
    """The same rows as text and with types."""
    shop = analyst.stage.world.shop
    analyst.open_dashboard(shop)
    analyst.tick(OTHER_DATES)
    shown = analyst.swap("#period-last-week")
    source = analyst.source(shop)
    asked = {"metrics": ",".join(METRICS), "time": shown.time, "tz": source.zone}
    answer = source.client.get(ENTITIES_CSV, params=asked | {"from_date": shown.from_date, "to_date": shown.to_date})
    wanted = list(csv.DictReader(answer.text.splitlines()))
    with tempfile.TemporaryDirectory() as folder:
        rows = list(csv.DictReader(analyst.download("#download", Path(folder)).read_text().splitlines()))
        typed = parquet.read_table(analyst.download("#download-parquet", Path(folder))).to_pylist()
    analyst.stage.compare((len(rows), len(typed)), (len(wanted), len(wanted)), "rows of the files")
    for row, typed_row, right in zip(rows, typed, wanted, strict=True):
        analyst.stage.compare({name: row.get(name) for name in right}, right, f"CSV, {right['bucket']}")
        for metric in COUNTS:
            analyst.stage.compare(typed_row[metric], int(right[metric]), f"Parquet, {right['bucket']} {metric}")


def share_numbers(analyst: Analyst) -> None:
    """The client opens the link in a browser of their own, without an account."""
    shop = analyst.stage.world.shop
    analyst.open_dashboard(shop)
    analyst.follow("#share")
    analyst.write("#link-label", "Landlord")
    analyst.follow('main form button[type="submit"]')
    client = analyst.stage.open_browser("client").person
    client.open(analyst.text("#address"))
    shown = read_page(client.browser)
    _hold_headlines(analyst, shown, analyst.source(shop), "shared link")
    analyst.look("shared", person=client)


def plan_report(analyst: Analyst) -> None:
    """Every Monday is offered first. The mail is the one of the next Monday, brought forward."""
    stage, shop = analyst.stage, analyst.stage.world.shop
    analyst.open_dashboard(shop)
    analyst.follow("#mail")
    analyst.choose("#report-language", "fr")
    analyst.write("#report-outside", CLIENT)
    analyst.follow('main form button[type="submit"]')
    row = analyst.text("main table tbody tr")
    for words in ("Every Monday", "Last week", "07:00", shop.zone, CLIENT):
        stage.check(words in row, f"report: {words!r} is not said: {row!r}")
    stage.stack.execute(_BRING_FORWARD)
    analyst.person.wait(lambda: bool(stage.mailbox.to(CLIENT)), "the report", limit_s=MAIL_LIMIT_S)
    (mail,) = stage.mailbox.to(CLIENT)
    zone = ZoneInfo(shop.zone)
    monday = datetime.combine(datetime.now(zone).date(), time()) - datetime.now(zone).weekday() * DAY
    ends = [(at.replace(tzinfo=zone)).astimezone(UTC).isoformat() for at in (monday - WEEK, monday)]
    totals = analyst.source(shop).totals(*ends)
    said = re.sub(r"[\s\u202f\u00a0]+", " ", text_of(mail))
    for name in COUNTS:
        count = f"{totals[name]['value']:,}".replace(",", " ")
        stage.compared += 1
        stage.check(f": {count} " in said, f"report: {name} is {count}, the mail says {said!r}")
    stage.check("lun" in str(mail["Subject"]), f"report: not in French: {mail['Subject']!r}")


def _hold_headlines(analyst: Analyst, shown: Shown, source: DataSource, where: str, **more: str) -> None:
    totals = source.totals(shown.from_date, shown.to_date, **more)
    for name in HEADLINES:
        value = number_of(name, totals) if is_told(name, totals) else None
        analyst.hold(shown.headlines[name].text, value, f"{where}, {name}", scale=PERCENT.get(name, 1))


def _days_until(now: datetime, zone: str, days: int) -> tuple[datetime, datetime]:
    """So many local days with today."""
    first = datetime.combine(now.astimezone(ZoneInfo(zone)).date(), time(), ZoneInfo(zone)) - (days - 1) * DAY
    return first.astimezone(UTC), now


def _slots(source: DataSource, from_at: datetime, to_at: datetime) -> dict[ClockSlot, dict[str, Any]]:
    """Whole quarters of an hour that were watched, by what the clock there shows."""
    found = source.ask(from_at.isoformat(), to_at.isoformat(), time="by_quarter_hour", metrics=(*COUNTS, "watched"))
    zone = ZoneInfo(source.zone)
    slots = {}
    for key, values in found.items():
        begins = datetime.fromisoformat(key).astimezone(zone)
        if values["watched"]["value"] >= WATCHED_FROM_S and begins.astimezone(UTC) + timedelta(minutes=15) <= to_at:
            slots[begins.replace(tzinfo=None, fold=0), begins.fold] = values
    return slots


def _add_up(parts: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    rows = list(parts)
    return {metric: sum(row[metric]["value"] for row in rows) for metric in COUNTS}
