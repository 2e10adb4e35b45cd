"""People who walk through a filmed scene, and a page that is open all the while."""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bench.cost.freshness import due_times, load_reel
from bench.journeys.dashboard.recovery import heal_after_restart
from bench.journeys.dashboard.stage import Stage
from bench.journeys.figures import JourneyFigure
from bench.lib.browser import Browser
from bench.lib.camera import Filmed, Take, film
from bench.lib.scenes import find_scenes
from bench.lib.testdata import find_testdata
from testkit import TestStream

SCENE = "basic"
STOP_S = 32.0
"""When the camera goes: three people passed by, and one of them was interested."""
LAG_TARGET_S = 60.0
READ_EVERY_S = 0.25
NAMES = ("passing_by", "interested")
_MARK = "globalThis.marked = arguments[0]"
_READ = """
const report = document.getElementById("report");
const number = (name) => Number(report?.querySelector(`[data-metric=${name}]`)?.dataset.value || 0);
return {
    passing_by: number("passing_by"),
    interested: number("interested"),
    in_view: Number(document.getElementById("live").dataset.inView || 0),
    looking: Number(document.getElementById("live").dataset.looking || 0),
    words: document.querySelector("#live .words").innerText,
    marked: globalThis.marked ?? null,
};
"""


@dataclass(frozen=True)
class LiveReading:
    """What an open page showed at a moment."""

    at_s: float
    """Unix time."""
    counts: dict[str, int]
    in_view: int
    looking: int
    words: str
    """Of the live strip."""
    is_same_page: bool
    """False after a reload."""


@dataclass
class LiveWatch:
    """Looks at an open page again and again."""

    browser: Browser
    mark: str
    glances: list[LiveReading] = field(default_factory=list)

    def begin(self) -> None:
        self.browser.execute_script(_MARK, self.mark)

    def look(self) -> LiveReading:
        found = self.browser.execute_script(_READ)
        counts = {name: int(found[name]) for name in NAMES}
        strip = (int(found["in_view"]), int(found["looking"]), str(found["words"]))
        self.glances.append(LiveReading(time.time(), counts, *strip, found["marked"] == self.mark))
        return self.glances[-1]

    def shown_at(self, name: str, count: int) -> float | None:
        """When the number had reached this for the first time."""
        return next((glance.at_s for glance in self.glances if glance.counts[name] >= count), None)

    def look_until(self, wanted: dict[str, int], *, give_up_at: float) -> None:
        while time.time() < give_up_at:
            glance = self.look()
            if all(glance.counts[name] >= count for name, count in wanted.items()):
                return
            time.sleep(READ_EVERY_S)


def walk_through(stage: Stage) -> list[JourneyFigure]:
    """Half a scene in real time; once its first people were shown, the console is killed, and the rest comes, too."""
    stream = stage.world.live
    stage.open_dashboard(stream, period="today")
    watching = LiveWatch(stage.person.browser, "walking")
    watching.begin()
    scene = next(one for one in find_scenes(find_testdata() / "synth" / "out") if one.name == SCENE)
    reel = load_reel(scene)
    shots = [shot for shot in reel.shots if shot.seconds < STOP_S]
    due = due_times(scene.truth, stop_s=STOP_S)
    with filming(stage, stream, Take(reel, shots, 0.0, is_ended=True)) as (begins_at, filmed):
        began_s = begins_at.timestamp()
        watching.look_until({"passing_by": 1}, give_up_at=began_s + due["passing_by"][0] + 2 * LAG_TARGET_S)
        healed = heal_after_restart(stage)
        wanted = {name: len(seconds) for name, seconds in due.items()}
        last_s = began_s + STOP_S
        watching.look_until(wanted, give_up_at=last_s + 2 * LAG_TARGET_S)
        lost = filmed.result().lost
    stage.look("live")
    return [*_judge(stage, watching, due, began_s), JourneyFigure("frames_lost", lost), healed]


@contextmanager
def filming(stage: Stage, stream: TestStream, take: Take) -> Iterator[tuple[datetime, Future[Filmed]]]:
    """A camera in a thread of its own, from now on."""
    begins_at = datetime.now(UTC)
    with ThreadPoolExecutor(1) as cameras:
        began = time.monotonic()
        yield begins_at, cameras.submit(film, stage.stack, take, stream, begins_at=begins_at, began=began)


def _judge(stage: Stage, watching: LiveWatch, due: dict[str, list[float]], began_s: float) -> list[JourneyFigure]:
    """From the frame that makes a person count to the page that shows it."""
    lags = []
    for name in NAMES:
        for number, seconds in enumerate(due[name], start=1):
            shown_at = watching.shown_at(name, number)
            stage.check(shown_at is not None, f"live: {name} never reached {number} on the open page")
            if shown_at is not None:
                lags.append(shown_at - began_s - seconds)
    stage.check(all(glance.is_same_page for glance in watching.glances), "live: the page was reloaded")
    stage.check(
        any(glance.in_view and "in view" in glance.words for glance in watching.glances),
        f"live: the strip never said that somebody is in view: { ({glance.words for glance in watching.glances}) }",
    )
    people = sum(len(seconds) for seconds in due.values())
    return [
        JourneyFigure("live_people_shown", len(lags), at_least=people),
        JourneyFigure("live_lag_worst_s", round(max(lags), 1) if lags else None, at_most=LAG_TARGET_S),
        JourneyFigure("live_in_view_most", max(glance.in_view for glance in watching.glances), at_least=1),
        JourneyFigure("live_looking_most", max(glance.looking for glance in watching.glances), at_least=1),
    ]
