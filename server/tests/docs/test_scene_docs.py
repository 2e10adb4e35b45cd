"""The pages about scenes, visits and coverage say what the code does."""

import re
from pathlib import Path

import pytest

from onlooker.catalogue.scene_analysis import EVENTS
from onlooker.compute import frame_time
from onlooker.compute.scene import attention, cadence, events, settling, stillness, timing
from onlooker.compute.scene.heading import WALKING
from onlooker.compute.scene.movement import HEIGHT, WIDTH
from onlooker.compute.scene.options import Options
from onlooker.compute.scene.sight import UNSURE_FACE
from onlooker.compute.tracking import tracker
from onlooker.settings import Settings
from onlooker.streams.coverage import SLOT_S, Reason
from onlooker.streams.state import State
from onlooker.visits import folding, intervals, person, recorder, retention, silence

DOCS = Path(__file__).resolve().parents[3] / "docs"


def words_of(page: str) -> str:
    """A page as one line, so that a sentence may go over two."""
    return " ".join((DOCS / f"{page}.md").read_text(encoding="utf-8").split())


SILENT_S = Settings().session_idle_s + silence.MARGIN_S
SENTENCES = {
    "services/scene_analysis": [
        f"**{Options(sensitivity={'appearance': 0}).needed('appearance'):g} - 0.8 x sensitivity**",
        f"{Options().needed('appearance'):g} at 0.5 (when absent)",
        f"moved by {events.AGE_MOVED_YEARS:g} years",
        f"slower than {WALKING:g} sizes of the own head a second",
        f"up to {frame_time.LATE_AT_MOST_MS / 1000:g} seconds earlier",
        f"more than {timing.AHEAD_AT_MOST_S / 60:g} minutes ahead",
        f"eyes every {cadence.EYES_EVERY_MS / 1000:g} seconds",
        f"{SILENT_S:g} to {SILENT_S + recorder.SILENCE_EVERY_S:g} seconds after the last picture",
        f"At most {tracker.TRACKS_AT_MOST} people are followed",
        f"Faces under about {cadence.READABLE_FROM_PX} pixels",
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
        f"place of {stillness.ROOM} sizes of itself for {stillness.DWELL_MS / 1000} seconds",
        f"at most {attention.NEIGHBOUR_MS / 1000} seconds away",
        f"{cadence.BETTER_VIEW} times better than the best so far",
        f"Read every {cadence.MOOD_EVERY_MS / 1000:g} seconds while somebody looks",
        f"else every {cadence.MOOD_UNSEEN_EVERY_MS / 1000:g} seconds",
        f"at last every {cadence.PROFILE_AT_LAST_MS // 1000} seconds",
    ],
    "concepts/visits": [
        f"at most {person.HOLDS_MS // 1000} second.",
        f"A gap of up to {person.BRIDGED_MS // 1000} seconds",
        f"less than {person.STILL_APART_MS // 1000} second apart",
        f"present for {folding.SHORTEST_VISIT_MS // 1000} second.",
        f"Every {folding.PUBLISHED_EVERY_MS // 1000} seconds of video",
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
    assert settling.SETTLED_AFTER_MS == 1000
    assert "when it is **one second** old" in words_of("concepts/visits")


def test_coverage_names_every_state_of_a_stream() -> None:
    text = words_of("concepts/coverage")
    assert [state for state in State if f"`{state}`" not in text] == []
