"""The agent is told to stop while somebody is in view."""

import time

from bench.dashboard.figures import Figure
from bench.journey.playing import LOOK_EVERY_S, START_LIMIT_S
from bench.journey.trip import Trip
from bench.journey.watching import Watching

STOP_LIMIT_S = 5.0
CLOSE_LIMIT_S = 5.0
"""Without the end of its session, its visits would be open for a minute."""
_OPEN = "SELECT count(*) FROM visits_visit WHERE NOT ended"


def stop_in_mid_film(trip: Trip) -> None:
    """SIGTERM: the agent ends its session, says what it did, and exits with 0."""
    watching = Watching(trip.person.browser)
    with trip.device.running("run-and-stop", [*trip.run_line]) as agent:
        give_up_at = time.monotonic() + START_LIMIT_S + trip.filmed.duration_s
        while watching.look().in_view == 0 or _open_visits(trip) == 0:
            if agent.is_over or time.monotonic() > give_up_at:
                raise AssertionError(f"the dashboard never said that somebody is in view:\n{agent.text[-2000:]}")
            time.sleep(LOOK_EVERY_S)
        code, seconds = agent.stop(limit_s=4 * STOP_LIMIT_S)
        closed_s = _await_closed(trip)
        lines = agent.text.strip().splitlines()
    trip.person.look_at_dashboard("dashboard-after-stop")
    trip.check(code == 0, f"after SIGTERM run ended with {code}")
    trip.check("frames" in lines[-1], f"the last line is no summary: {lines[-1]}")
    trip.figures += [
        Figure("stop_s", round(seconds, 2), at_most=STOP_LIMIT_S),
        Figure("visits_closed_after_s", closed_s, at_most=CLOSE_LIMIT_S),
    ]


def _await_closed(trip: Trip) -> float | None:
    """How long after the agent's end every visit had ended; None where one stays open for too long."""
    began = time.monotonic()
    while time.monotonic() - began < 4 * CLOSE_LIMIT_S:
        if _open_visits(trip) == 0:
            return round(time.monotonic() - began, 2)
        time.sleep(0.1)
    return None


def _open_visits(trip: Trip) -> int:
    ((count,),) = trip.stack.execute(_OPEN)
    return int(count)
