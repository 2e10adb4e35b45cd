"""The pages about scenes, visits and coverage say what the code does."""

import re
from pathlib import Path

import pytest

from onlooker.settings import Settings
from onlooker.slots import SLOT_S
from onlooker.streams.coverage import Reason
from onlooker.streams.state import State
from onlooker.visits import recorder, retention, session_end
from onlooker_pipeline import frame_time
from onlooker_pipeline.catalogue.scene_analysis import EVENTS
from onlooker_pipeline.scene import (
    attribute_schedule,
    behaviour,
    events,
    face_views,
    request_options,
    sighting_verdicts,
)
from onlooker_pipeline.scene.body_search import HEIGHT, WIDTH
from onlooker_pipeline.scene.frame_vision import UNSURE_FACE
from onlooker_pipeline.scene.observation import WALKING
from onlooker_pipeline.scene.request_options import SceneOptions
from onlooker_pipeline.tracking import tracker
from onlooker_pipeline.visits import fold as visit_fold
from onlooker_pipeline.visits import intervals, visitor

DOCS = Path(__file__).resolve().parents[3] / "docs"


def words_of(page: str) -> str:
    """A page as one line, so that a sentence may go over two."""
    return " ".join((DOCS / f"{page}.md").read_text(encoding="utf-8").split())


SILENT_S = Settings().session_idle_s + session_end.MARGIN_S
SENTENCES = {
    "services/scene_analysis": [
        f"**{SceneOptions(sensitivity={'appearance': 0}).needed('appearance'):g} - 0.8 x sensitivity**",
        f"{SceneOptions().needed('appearance'):g} at 0.5 (when absent)",
        f"moved by {events.AGE_MOVED_YEARS:g} years",
        f"slower than {WALKING:g} sizes of their own head a second",
        f"up to {frame_time.LATE_AT_MOST_MS / 1000:g} seconds earlier",
        f"more than {request_options.AHEAD_AT_MOST_S / 60:g} minutes ahead",
        f"eyes every {face_views.EYES_EVERY_MS / 1000:g} seconds",
        f"{SILENT_S:g} to {SILENT_S + recorder.CHECK_EVERY_S:g} seconds after the last picture",
        f"At most {tracker.TRACKS_AT_MOST} people are tracked",
        f"Faces under about {face_views.READABLE_FROM_PX} pixels",
        f"within at least {tracker.CONFIRMED_AFTER_S} seconds, or two that are {tracker.SURE_AFTER_S} seconds apart",
        f"at {WIDTH} x {HEIGHT}",
    ],
    "concepts/tracking": [
        f"a confidence of at least {tracker.SURE_FACE}",
        f"(from {UNSURE_FACE} on)",
        f"after {tracker.TENTATIVE_UNSEEN_S} seconds unseen (a body: {tracker.BODY_UNSEEN_S:g})",
        f"over at least {tracker.CONFIRMED_AFTER_S} seconds, or two at least {tracker.SURE_AFTER_S} seconds apart",
        f"over at least {tracker.BODY_CONFIRMED_AFTER_S} seconds, and it must have",
        f"moved by {tracker.BODY_WANDERS} sizes",
        f"below its lower one | {tracker.LEAVING_UNSEEN_S} |",
        f"face was seen | {tracker.FACE_UNSEEN_S:g} |",
        f"never showed a face | {tracker.BODY_UNSEEN_S:g} |",
        f"behind somebody who is seen | {tracker.HIDDEN_UNSEEN_S:g} |",
        f"no frames come at all | {tracker.FORGOTTEN_S:g} |",
        f"place of {behaviour.ROOM} sizes of itself for {behaviour.DWELL_MS / 1000} seconds",
        f"at most {behaviour.NEIGHBOUR_MS / 1000} seconds away",
        f"{attribute_schedule.BETTER_VIEW} times better than the best so far",
        f"Read every {attribute_schedule.MOOD_EVERY_MS / 1000:g} seconds while somebody looks",
        f"else every {attribute_schedule.MOOD_UNSEEN_EVERY_MS / 1000:g} seconds",
        f"at last every {attribute_schedule.PROFILE_AT_LAST_MS // 1000} seconds",
    ],
    "concepts/visits": [
        f"at most {visitor.HOLDS_MS // 1000} second.",
        f"A gap of up to {visitor.BRIDGED_MS // 1000} seconds",
        f"less than {visitor.STILL_APART_MS // 1000} second apart",
        f"present for {visit_fold.SHORTEST_VISIT_MS // 1000} second.",
        f"Every {visit_fold.PUBLISHED_EVERY_MS // 1000} seconds of video",
        f"At most {intervals.INTERVALS_AT_MOST} intervals",
        f"were not written for {SILENT_S:g} seconds",
        f"After {recorder.TRIES} tries",
    ],
    "concepts/coverage": [f"slots** of {SLOT_S // 60} minutes", *(f"| `{reason}` |" for reason in Reason)],
    "guides/operate": [
        f"in batches of {retention.DELETE_AT_ONCE:,}",
        f"for {retention.ASIDE_DAYS} days",
        *(f"| `{reason}` |" for reason in ("refused", "out_of_range", "undecodable")),
    ],
}


@pytest.mark.parametrize(("page", "sentence"), [(page, one) for page, all_ in SENTENCES.items() for one in all_])
def test_a_page_about_scenes_says_what_the_code_does(page: str, sentence: str) -> None:
    assert sentence in words_of(page)


def test_the_page_knows_every_event_and_no_other() -> None:
    text = (DOCS / "services/scene_analysis.md").read_text(encoding="utf-8")
    table = text.partition("### Events\n")[2].partition("\n###")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == {"type", *EVENTS}


def test_a_verdict_is_final_after_a_second() -> None:
    assert sighting_verdicts.SETTLED_AFTER_MS == 1000
    assert "when it is **one second** old" in words_of("concepts/visits")


def test_coverage_names_every_state_of_a_stream() -> None:
    text = words_of("concepts/coverage")
    assert [state for state in State if f"`{state}`" not in text] == []
