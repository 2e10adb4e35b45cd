"""Yesterday's film, sent as fast as the server takes it."""

import json
from datetime import UTC, datetime, timedelta

from bench.dashboard.figures import Figure
from bench.dashboard.shown import read_page
from bench.journey.numbers import NAMES, ask_numbers, judge_numbers, numbers_in
from bench.journey.trip import Trip
from bench.journey.watching import Watching


def analyse(trip: Trip) -> None:
    """Its summary, the dashboard of that hour and the data endpoint say the same."""
    starts_at = (datetime.now(UTC) - timedelta(days=1, hours=1)).replace(minute=0, second=0, microsecond=0)
    ends_at = starts_at + timedelta(hours=1)
    line = ["onlooker-agent", "analyse", str(trip.recorded.path), "--start", starts_at.isoformat(), "--json"]
    done = trip.device.do("analyse", line)
    assert done.code == 0, f"analyse ended with {done.code}:\n{done.out}{done.err}"
    summary = numbers_in(json.loads(done.out.strip().splitlines()[-1])["numbers"])
    trip.open_dashboard(from_=starts_at.isoformat(), to=ends_at.isoformat())
    read_page(trip.person.browser)
    shown = Watching(trip.person.browser).look().numbers
    with trip.reading() as client:
        asked = ask_numbers(client, starts_at, ends_at)
    trip.person.look_at_dashboard("dashboard-of-yesterday")
    for name, numbers in (("the dashboard", shown), ("the data endpoint", asked)):
        trip.check(numbers.is_like(summary), f"analyse says {summary}, {name} {numbers}")
    trip.figures += [
        *judge_numbers(summary, trip.recorded, of="analyse"),
        Figure("analyse_s", round(done.seconds, 1)),
        Figure("analyse_times_real_time", round(trip.recorded.duration_s / done.seconds, 2)),
        Figure("numbers_of_analyse_compared", 2 * len(NAMES)),
    ]
