"""From the page that shows the credentials to an agent that is set up and well."""

import json
import shlex
import stat
import time
from datetime import UTC, datetime, timedelta

from bench.journeys.console.person import OWNER
from bench.journeys.dashboard.page import read_page
from bench.journeys.figures import JourneyFigure
from bench.journeys.product.device import Running
from bench.journeys.product.numbers import (
    NAMES,
    DashboardWatch,
    NumbersReading,
    ask_numbers,
    final_since,
    judge_numbers,
    numbers_in,
)
from bench.journeys.product.trip import Trip
from onlooker_client import Client

CONFIG = ".config/onlooker/client.json"
_DOWNLOAD = """
const done = arguments[0];
const link = document.querySelector("#connect ~ ol a[download]");
fetch(link.href).then((answer) => answer.text()).then(done, (fault) => done(`${fault}`));
"""


def copy_lines(trip: Trip) -> None:
    """The panel's own lines, and the authority that it offers."""
    person = trip.person
    person.see("Waiting for the first frame")
    trip.scene.known["setup line"] = person.text("#setup-line")
    trip.run_line = shlex.split(person.text("#run-line"))
    pem = person.browser.execute_async_script(_DOWNLOAD)
    trip.check(pem == trip.front.ca_file.read_text(), "the console offers another authority than the proxy's")
    trip.authority.write_text(pem)


def set_up(trip: Trip) -> None:
    """The line from the page, in a terminal: the Password and the camera are asked for, and tried."""
    line = [*shlex.split(trip.scene.known["setup line"]), "--username", OWNER]
    answers = [("Password", trip.password), ("Which one", str(trip.filmed.path))]
    done = trip.device.converse("setup", line, answers)
    assert done.code == 0, f"setup ended with {done.code}:\n{done.out}{done.err}"
    config = trip.device.home / CONFIG
    trip.check(stat.S_IMODE(config.stat().st_mode) == 0o600, "others can read the config")
    trip.figures.append(JourneyFigure("setup_s", round(done.seconds, 1)))


def examine(trip: Trip) -> None:
    """Nothing is to be fixed: without billing the stream is an enterprise stream, which has no quota."""
    done = trip.device.do("doctor", ["onlooker-agent", "doctor"])
    assert done.code == 0, f"doctor ended with {done.code}:\n{done.out}{done.err}"
    trip.figures.append(JourneyFigure("doctor_s", round(done.seconds, 1)))


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
    watching = DashboardWatch(trip.person.browser)
    watching.begin()
    with trip.device.running("run", [*trip.run_line]) as agent:
        watch_film(trip, watching, agent)
        trip.check(agent.process.returncode == 0, f"run ended with {agent.process.returncode}:\n{agent.text[-2000:]}")
    with trip.reading() as client:
        readings = _await_numbers(trip, watching, client, begins_at)
    trip.person.look_at_dashboard("dashboard")
    trip.check(watching.is_same_page, "the dashboard was reloaded")
    last_frame_s = agent.began_s + trip.filmed.duration_s  # or a little later: an agent needs a moment to begin
    glances = [NumbersReading(glance.at_s, glance.numbers) for glance in watching.glances]
    data_s, page_s = (max(0.0, final_since(some) - last_frame_s) for some in (readings, glances))
    trip.figures += [
        *judge_numbers(readings[-1].numbers, trip.filmed, of="data"),
        *judge_numbers(glances[-1].numbers, trip.filmed, of="dashboard", has_means=readings[-1].numbers.tells_means),
        JourneyFigure("data_lag_s", round(data_s, 1), at_most=LAG_TARGET_S),
        JourneyFigure("dashboard_lag_s", round(page_s, 1), at_most=LAG_TARGET_S),
        JourneyFigure("live_in_view_most", watching.in_view_most, at_least=1),
    ]
    trip.check(
        glances[-1].numbers.is_like(readings[-1].numbers.as_on_page()),
        f"the dashboard shows {glances[-1].numbers}, the data endpoint {readings[-1].numbers}",
    )


def watch_film(trip: Trip, watching: DashboardWatch, agent: Running) -> None:
    """Until the agent ends by itself with the film."""
    give_up_at = time.monotonic() + START_LIMIT_S + 1.5 * trip.filmed.duration_s
    while not agent.is_over:
        if time.monotonic() > give_up_at:
            raise AssertionError(f"the film is over, and the agent goes on:\n{agent.text[-2000:]}")
        watching.look()
        time.sleep(LOOK_EVERY_S)


def _await_numbers(trip: Trip, watching: DashboardWatch, client: Client, begins_at: datetime) -> list[NumbersReading]:
    """Until both say the same, the counts are right, and all stays so; or for too long."""
    give_up_at = time.time() + GIVE_UP_S
    readings: list[NumbersReading] = []
    while True:
        numbers = ask_numbers(client, begins_at)
        readings.append(NumbersReading(time.time(), numbers))
        glance = watching.look()
        is_right = numbers.has_counts_of(trip.filmed) and glance.numbers.is_like(numbers)
        is_quiet = time.time() - max(final_since(readings), final_since(_shown(watching))) >= QUIET_S
        if (is_right and is_quiet) or time.time() > give_up_at:
            return readings
        time.sleep(LOOK_EVERY_S)


def _shown(watching: DashboardWatch) -> list[NumbersReading]:
    return [NumbersReading(glance.at_s, glance.numbers) for glance in watching.glances]


STOP_LIMIT_S = 5.0
CLOSE_LIMIT_S = 5.0
"""Without the end of its session, its visits would be open for a minute."""
_OPEN = "SELECT count(*) FROM visits_visit WHERE NOT ended"


def stop_in_mid_film(trip: Trip) -> None:
    """SIGTERM: the agent ends its session, says what it did, and exits with 0."""
    watching = DashboardWatch(trip.person.browser)
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
        JourneyFigure("stop_s", round(seconds, 2), at_most=STOP_LIMIT_S),
        JourneyFigure("visits_closed_after_s", closed_s, at_most=CLOSE_LIMIT_S),
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
    shown = DashboardWatch(trip.person.browser).look().numbers
    with trip.reading() as client:
        asked = ask_numbers(client, starts_at, ends_at)
    trip.person.look_at_dashboard("dashboard-of-yesterday")
    for name, numbers, expected in (
        ("the dashboard", shown, summary.as_on_page()),
        ("the data endpoint", asked, summary),
    ):
        trip.check(numbers.is_like(expected), f"analyse says {summary}, {name} {numbers}")
    trip.figures += [
        *judge_numbers(summary, trip.recorded, of="analyse"),
        JourneyFigure("analyse_s", round(done.seconds, 1)),
        JourneyFigure("analyse_times_real_time", round(trip.recorded.duration_s / done.seconds, 2)),
        JourneyFigure("numbers_of_analyse_compared", 2 * len(NAMES)),
    ]
