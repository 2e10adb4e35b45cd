"""The agent runs a film as its camera, in real time, while a dashboard stays open."""

import time
from datetime import UTC, datetime, timedelta

from bench.dashboard.figures import Figure
from bench.journey.device import Running
from bench.journey.numbers import Reading, ask_numbers, final_since, judge_numbers
from bench.journey.trip import Trip
from bench.journey.watching import Watching
from onlooker_client import Client

LAG_TARGET_S = 60.0
GIVE_UP_S = LAG_TARGET_S + 15.0
"""After the end: a number that comes too late is still told."""
QUIET_S = 4.0
"""Without any change, after which nothing more is on its way."""
LOOK_EVERY_S = 0.4
START_LIMIT_S = 30.0


def play(trip: Trip) -> None:
    """The whole film; then until page and data endpoint show what is true of it."""
    begins_at = datetime.now(UTC) - timedelta(seconds=1)
    trip.open_dashboard(period="24h")
    watching = Watching(trip.person.browser)
    watching.begin()
    with trip.device.running("run", [*trip.run_line]) as agent:
        watch_film(trip, watching, agent)
        trip.check(agent.process.returncode == 0, f"run ended with {agent.process.returncode}:\n{agent.text[-2000:]}")
    with trip.reading() as client:
        readings = _await_numbers(trip, watching, client, begins_at)
    trip.person.look_at_dashboard("dashboard")
    trip.check(watching.is_same_page, "the dashboard was loaded anew")
    last_frame_s = agent.began_s + trip.filmed.duration_s  # or a little later: an agent needs a moment to begin
    glances = [Reading(glance.at_s, glance.numbers) for glance in watching.glances]
    data_s, page_s = (max(0.0, final_since(some) - last_frame_s) for some in (readings, glances))
    trip.figures += [
        *judge_numbers(readings[-1].numbers, trip.filmed, of="data"),
        *judge_numbers(glances[-1].numbers, trip.filmed, of="dashboard"),
        Figure("data_lag_s", round(data_s, 1), at_most=LAG_TARGET_S),
        Figure("dashboard_lag_s", round(page_s, 1), at_most=LAG_TARGET_S),
        Figure("live_in_view_most", watching.in_view_most, at_least=1),
    ]
    trip.check(
        glances[-1].numbers.is_like(readings[-1].numbers),
        f"the dashboard shows {glances[-1].numbers}, the data endpoint {readings[-1].numbers}",
    )


def watch_film(trip: Trip, watching: Watching, agent: Running) -> None:
    """Until the agent ends by itself with the film."""
    give_up_at = time.monotonic() + START_LIMIT_S + 1.5 * trip.filmed.duration_s
    while not agent.is_over:
        if time.monotonic() > give_up_at:
            raise AssertionError(f"the film is over, and the agent goes on:\n{agent.text[-2000:]}")
        watching.look()
        time.sleep(LOOK_EVERY_S)


def _await_numbers(trip: Trip, watching: Watching, client: Client, begins_at: datetime) -> list[Reading]:
    """Until both say the same, the counts are right, and all stays so; or for too long."""
    give_up_at = time.time() + GIVE_UP_S
    readings: list[Reading] = []
    while True:
        numbers = ask_numbers(client, begins_at)
        readings.append(Reading(time.time(), numbers))
        glance = watching.look()
        is_right = numbers.has_counts_of(trip.filmed) and glance.numbers.is_like(numbers)
        is_quiet = time.time() - max(final_since(readings), final_since(_shown(watching))) >= QUIET_S
        if (is_right and is_quiet) or time.time() > give_up_at:
            return readings
        time.sleep(LOOK_EVERY_S)


def _shown(watching: Watching) -> list[Reading]:
    return [Reading(glance.at_s, glance.numbers) for glance in watching.glances]
