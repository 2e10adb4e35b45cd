"""How long pages of a large organisation take: its overview, a site's numbers, all numbers; and whether they are right.

The streams are made inside PostgreSQL: slots and what was watched go through the same triggers as in the product. The
pages are the console's own, asked for one after another in one process.
"""

import argparse
import os
import re
import statistics
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg

from bench.lib.allowance import add_allowance
from bench.lib.product import conclude, concluding, say
from onlooker.metrics.days import find_wrong_days
from testkit import migrated_database

OVERVIEW_MS, SITE_MS, COMPARISON_MS = 500, 300, 500
TARGETS = {"overview_ms": OVERVIEW_MS, "site_ms": SITE_MS, "ten_streams_year_ms": COMPARISON_MS}
COMPARED, COMPARED_DAYS = 10, 366
"""Streams that are set side by side; each is watched all day, with people from 8 to 20 o'clock."""
CONSOLE = "console.example.org"
SLOTS_A_DAY = 3

MAKE_STREAMS = """
WITH organisation AS (INSERT INTO streams_organisation (name) VALUES ('Shops everywhere') RETURNING id),
member AS (INSERT INTO streams_membership (organisation_id, account_id, role)
           SELECT id, %(account)s, 'owner' FROM organisation),
site AS (INSERT INTO streams_site (organisation_id, name)
         SELECT id, 'Shop ' || number FROM organisation, generate_series(1, %(sites)s::int) number RETURNING id),
numbered AS (SELECT id, row_number() OVER (ORDER BY id) - 1 AS number FROM site),
stream AS (
    INSERT INTO streams_stream (organisation_id, site_id, name, client_id, kind, enabled, created_at, retention_days,
                                time_zone, hours)
    SELECT organisation.id, numbered.id, 'Camera ' || place, gen_random_uuid(), 'enterprise', true,
           now() - interval '400 days', 365,
           (ARRAY['Europe/Paris', 'America/New_York', 'UTC', 'Asia/Tokyo', 'Asia/Kolkata'])[1 + place %% 5],
           CASE WHEN place %% 3 = 0 THEN 'mo-sa 08:00-20:00' ELSE '' END
    FROM organisation, generate_series(1, %(streams)s::int) place
    JOIN numbered ON numbered.number = place %% %(sites)s::int
    RETURNING id, organisation_id),
tag AS (INSERT INTO streams_tag (organisation_id, name)
        SELECT id, name FROM organisation, unnest(ARRAY['window', 'entrance', 'till']) name RETURNING id)
INSERT INTO streams_streamtag (stream_id, tag_id)
SELECT stream.id, tag.id FROM stream, tag WHERE (stream.id + tag.id) %% 3 = 0
"""
MAKE_DAY = """
INSERT INTO metrics_slot (stream_id, slot_at, reaches_at, {columns})
SELECT stream.id, slot_at, slot_at + interval '20 minutes', {figures}
FROM streams_stream stream
CROSS JOIN LATERAL (SELECT date_bin('15 minutes', now() - %(ago)s * interval '1 day', 'epoch')
                               - number * interval '1 hour' AS slot_at,
                           (stream.id * 31 + number * 7 + %(ago)s) %% 23 AS people
                    FROM generate_series(0, %(slots)s::int - 1) number) slot
"""
MAKE_COVERAGE = """
INSERT INTO streams_coverage (stream_id, slot_at, video_s)
SELECT stream.id, date_bin('15 minutes', now() - %(ago)s * interval '1 day', 'epoch') - number * interval '1 hour',
       CASE WHEN (stream.id + %(ago)s) %% 29 = 0 THEN 400 ELSE 900 END
FROM streams_stream stream, generate_series(0, %(slots)s::int - 1) number
"""
MAKE_FULL_DAYS = """
INSERT INTO metrics_slot (stream_id, slot_at, reaches_at, {columns})
SELECT stream_id, slot_at, slot_at + interval '20 minutes', {figures}
FROM unnest(%(streams)s::bigint[]) stream_id
CROSS JOIN LATERAL (
    SELECT slot_at, (stream_id * 31 + date_part('epoch', slot_at)::bigint / 900) %% 23 AS people
    FROM generate_series(date_bin('15 minutes', now(), 'epoch') - %(days)s * interval '1 day',
                         date_bin('15 minutes', now(), 'epoch') - interval '15 minutes', '15 minutes') slot_at
    WHERE date_part('hour', slot_at) BETWEEN 8 AND 19) slot
ON CONFLICT DO NOTHING
"""
MAKE_FULL_COVERAGE = """
INSERT INTO streams_coverage (stream_id, slot_at, video_s)
SELECT stream_id, slot_at, CASE WHEN (stream_id + date_part('doy', slot_at)::int) %% 29 = 0 THEN 400 ELSE 900 END
FROM unnest(%(streams)s::bigint[]) stream_id,
     generate_series(date_bin('15 minutes', now(), 'epoch') - %(days)s * interval '1 day',
                     date_bin('15 minutes', now(), 'epoch') - interval '15 minutes', '15 minutes') slot_at
ON CONFLICT DO NOTHING
"""
MAKE_STATES = """
INSERT INTO streams_usage (stream_id, month, video_s, last_frame_at)
SELECT id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 1000 * (id %% 50),
       now() - CASE WHEN id %% 40 = 0 THEN interval '3 hours' ELSE interval '5 seconds' END FROM streams_stream;
INSERT INTO streams_picturecondition (stream_id, fault, since_at, seen_at)
SELECT id, CASE WHEN id %% 90 = 0 THEN 'covered' ELSE '' END, now() - interval '1 hour', now() FROM streams_stream;
INSERT INTO streams_agentcondition (stream_id, state, since_at, over_s, sent, dropped, version, received_at)
SELECT id, 'seeing', now() - interval '1 day', 60, 300, '{}',
       CASE WHEN id %% 70 = 0 THEN '0.0.9' ELSE '9.0.0' END, now()
FROM streams_stream;
"""
OWN_SUMS = """
SELECT sum(passing_by)::bigint, sum(interested)::bigint
FROM metrics_slot slot JOIN streams_stream stream ON stream.id = slot.stream_id
WHERE (slot_at AT TIME ZONE time_zone)::date > (now() AT TIME ZONE time_zone)::date - %(days)s::int
  AND (slot_at AT TIME ZONE time_zone)::date <= (now() AT TIME ZONE time_zone)::date
  AND (%(site)s::bigint IS NULL OR site_id = %(site)s)
"""


def fill(connection: psycopg.Connection[Any], account: int, asked: argparse.Namespace) -> None:
    from onlooker.metrics.definitions import ALL_FIGURES

    values = {"account": account, "sites": asked.sites, "streams": asked.streams}
    connection.execute(MAKE_STREAMS.encode(), values)
    columns, figures = _make_figures(ALL_FIGURES)
    statement = MAKE_DAY.format(columns=columns, figures=figures).encode()
    for ago in range(asked.days):
        connection.execute(statement, {"ago": ago, "slots": SLOTS_A_DAY})
        connection.execute(MAKE_COVERAGE.encode(), {"ago": ago, "slots": SLOTS_A_DAY})
        if ago % 10 == 0:
            say(f"{asked.streams} streams, {ago + 1} of {asked.days} days")
    connection.execute(MAKE_STATES.replace("%%", "%").encode())
    compared = {"streams": find_compared(connection), "days": COMPARED_DAYS}
    connection.execute(MAKE_FULL_DAYS.format(columns=columns, figures=figures).encode(), compared)
    connection.execute(MAKE_FULL_COVERAGE.encode(), compared)
    connection.execute("ANALYZE")


def find_compared(connection: psycopg.Connection[Any]) -> list[int]:
    rows = connection.execute("SELECT id FROM streams_stream ORDER BY id LIMIT %s", (COMPARED,)).fetchall()
    return [stream_id for (stream_id,) in rows]


def _make_figures(columns: Iterable[str]) -> tuple[str, str]:
    """Columns of a slot, and what is in them."""
    parts = {"passing_by": "people", "interested": "people / 3", "stopped": "people / 2", "told": "people / 3"}
    parts |= {"still_us": "people * 1500000", "looking_us": "people * 900000", "gender_unknown": "people / 3"}
    parts |= {"age_unknown": "people / 3", "emotion_unknown": "people / 3"}
    return ", ".join(columns), ", ".join(parts.get(column, "0") for column in columns)


def time_pages(get: Callable[[str], Any], paths: dict[str, str], rounds: int) -> dict[str, float]:
    """Medians in milliseconds, after a first request each. In turns, so that a busy moment meets all of them."""
    times: dict[str, list[float]] = {name: [] for name in paths}
    for number in range(rounds + 1):
        for name, path in paths.items():
            began = time.perf_counter()
            answer = get(path)
            assert answer.status_code == 200, (path, answer.status_code)
            if number:
                times[name].append(1000 * (time.perf_counter() - began))
    return {name: round(statistics.median(found), 1) for name, found in times.items()}


def name_comparisons(connection: psycopg.Connection[Any], site: int) -> dict[str, str]:
    """Ten streams side by side, sites, and a stream before and after a day."""
    found = connection.execute("SELECT client_id FROM streams_stream ORDER BY id LIMIT %s", (COMPARED,)).fetchall()
    streams = "&".join(f"row=stream:{client_id}" for (client_id,) in found)
    today = datetime.now(UTC).date()
    year = f"from={today - timedelta(days=365)}&to={today - timedelta(days=1)}"
    day = today - timedelta(days=182)
    return {
        "ten_streams_year_ms": f"/streams/compare/?{streams}&{year}",
        "ten_streams_30_days_ms": f"/streams/compare/?{streams}&period=30d",
        "two_sites_7_days_ms": f"/streams/compare/?row=site:{site}&row=site:{site + 1}",
        "before_after_ms": f"/streams/compare/before-after/?row=stream:{found[0][0]}&date={day}&weeks=26",
    }


def find_wrong_sums(get: Callable[[str], Any], connection: psycopg.Connection[Any], site: int) -> list[str]:
    """The overview's totals, and those of the JSON of a site and of all, against the sums of the streams' own slots."""
    wrong = []
    page = get("/streams/").content.decode()
    totals = tuple(
        int(re.findall(rf'data-total="{name}">([\d,]+)<', page)[0].replace(",", ""))
        for name in ("passing_by", "interested")
    )
    told: dict[tuple[str, int, int | None], tuple[int, ...]] = {("overview", 7, None): totals}
    for days, at in ((30, None), (30, site), (7, site)):
        numbers = get(f"/streams/numbers.json?days={days}{f'&site={at}' if at else ''}").json()
        found = tuple(numbers["metrics"][name]["value"] for name in ("passing_by", "interested"))
        told["numbers", days, at] = found
    for (name, days, at), found in told.items():
        own = connection.execute(OWN_SUMS.encode(), {"days": days, "site": at}).fetchone()
        if own != found:
            wrong.append(f"{name}, {days} days, site {at}: {found} instead of {own}")
    return wrong


def measure(url: str, asked: argparse.Namespace) -> dict[str, Any]:
    os.environ["ONLOOKER_DATABASE_URL"] = url
    os.environ["ONLOOKER_CONSOLE_URL"] = f"https://{CONSOLE}"
    from onlooker.cli.administration import open_django

    open_django()
    from django.test import Client

    from onlooker.console.accounts.models import Account

    owner = Account.objects.create_user("integrator@example.org", "correct horse battery staple")
    browser = Client(SERVER_NAME=CONSOLE, headers={"origin": f"https://{CONSOLE}"})
    browser.force_login(owner)

    def get(path: str) -> Any:
        return browser.get(path, secure=True)

    with psycopg.connect(url, autocommit=True) as connection:
        began = time.perf_counter()
        fill(connection, owner.pk, asked)
        filled_s = time.perf_counter() - began
        [site] = connection.execute("SELECT min(id) FROM streams_site").fetchone() or (0,)
        paths = {
            "overview_ms": "/streams/",
            "overview_by_conversion_ms": "/streams/?sort=conversion",
            "overview_found_ms": "/streams/?q=camera+49&sort=-watched",
            "site_ms": f"/streams/numbers/?site={site}&days=30",
            "site_json_ms": f"/streams/numbers.json?site={site}&days=30",
            "all_30_days_ms": "/streams/numbers/?days=30",
            "all_7_days_ms": "/streams/numbers/?days=7",
            **name_comparisons(connection, site),
        }
        say("pages")
        times = time_pages(get, paths, asked.rounds)
        wrong = find_wrong_sums(get, connection, site)
        wrong += [f"stream {stream_id}: {count} wrong days" for stream_id, count in find_wrong_days(connection)]
    for line in wrong:
        say(line)
    is_quick = all(times[name] < target * asked.allow for name, target in TARGETS.items())
    return {
        "ok": is_quick and not wrong,
        "streams": asked.streams,
        "days": asked.days,
        "filled_s": round(filled_s, 1),
        **times,
        **{f"{name}_target": target for name, target in TARGETS.items()},
        "wrong": len(wrong),
        "allowed_factor": asked.allow,
    }


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, default=5000)
    parser.add_argument("--sites", type=int, default=100)
    parser.add_argument("--days", type=int, default=66)
    parser.add_argument("--rounds", type=int, default=15)
    add_allowance(parser)
    asked = parser.parse_args()
    with migrated_database() as url:
        figures = measure(url, asked)
    conclude(figures)


if __name__ == "__main__":
    main()
