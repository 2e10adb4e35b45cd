"""Ten frames a second, one a second where nothing happens, ten from the first motion on."""

from hypothesis import given
from hypothesis import strategies as st

from onlooker_client.agent.capture.pace import CALM_S, TRUSTED_S, Pace


def beats(seconds: float, fps: float = 10.0, begins: float = 100.0) -> list[float]:
    return [begins + beat / fps for beat in range(round(seconds * fps))]


def sent_of(pace: Pace, moments: list[float], *, people: int = 0, answered: bool = True) -> list[float]:
    sent = []
    for now in moments:
        if pace.wants(now):
            pace.send(now)
            sent.append(now)
            if answered:
                pace.see_answer(now + 0.03, people=people)
    return sent


def test_an_empty_still_scene_sends_one_frame_a_second() -> None:
    pace = Pace()
    sent_of(pace, beats(1))
    assert len(sent_of(pace, beats(20, begins=101.0))) in (20, 21)


def test_the_frame_that_moves_is_sent_itself() -> None:
    pace = Pace()
    sent_of(pace, beats(10))
    now = 110.35
    pace.see_motion(now)
    assert pace.wants(now)
    assert sent_of(pace, beats(CALM_S - 0.1, begins=now)) == beats(CALM_S - 0.1, begins=now)


def test_somebody_who_stands_still_is_sent_at_the_full_rate() -> None:
    pace = Pace()
    assert len(sent_of(pace, beats(10), people=1)) == 100


def test_without_an_answer_nothing_is_known_so_the_full_rate_goes_on() -> None:
    assert len(sent_of(Pace(), beats(10), answered=False)) == 100
    pace = Pace()
    sent_of(pace, beats(3))
    later = beats(3, begins=103.0 + TRUSTED_S)
    assert sent_of(pace, later, answered=False) == later


def test_motion_is_looked_for_only_where_it_matters() -> None:
    pace = Pace()
    assert not pace.needs_motion  # nothing is known yet: the full rate anyway
    pace.see_answer(10.0, people=0)
    assert pace.needs_motion
    pace.see_answer(10.1, people=1)
    assert not pace.needs_motion
    pace.see_answer(10.2, people=0)
    assert pace.needs_motion
    assert not pace.is_idle(10.2 + CALM_S - 0.2)
    pace = Pace(10.0, 10.0)
    pace.see_answer(10.0, people=0)
    assert not pace.needs_motion


def test_a_higher_idle_rate_can_be_set_up_to_the_full_one() -> None:
    assert len(sent_of(Pace(10.0, 10.0), beats(10))) == 100
    pace = Pace(10.0, 2.0)
    sent_of(pace, beats(1))
    assert len(sent_of(pace, beats(10, begins=101.0))) in (20, 21)


def test_the_beat_does_not_drift() -> None:
    pace = Pace(10.0)
    now = first = pace.next_due(50.0)
    for _ in range(999):
        now = pace.next_due(now + 0.013)  # each frame takes a while
    assert abs(now - first - 99.9) < 1e-6


def test_after_a_long_pause_the_beat_begins_anew_without_a_burst() -> None:
    pace = Pace(10.0)
    pace.next_due(50.0)
    assert pace.next_due(53.21) == 53.21
    assert pace.next_due(53.22) == 53.31


@given(events=st.lists(st.tuples(st.floats(0.0, 2.0), st.sampled_from(["motion", "somebody", "nobody", "frame"]))))
def test_it_is_idle_only_while_the_last_answer_showed_nobody_and_nothing_moved(
    events: list[tuple[float, str]],
) -> None:
    pace, now = Pace(), 10.0
    moved_at, people = float("-inf"), None
    for pause_s, event in events:
        now += pause_s
        if event == "motion":
            pace.see_motion(now)
            moved_at = now
        elif event != "frame":
            people = int(event == "somebody")
            pace.see_answer(now, people=people)
        if people != 0 or moved_at == now:
            assert pace.wants(now)
        if pace.wants(now):
            pace.send(now)
