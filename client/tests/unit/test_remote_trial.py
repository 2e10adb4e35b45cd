"""Whether a device is worse with a configuration: by its pictures, and by the frames that were answered."""

from hypothesis import given
from hypothesis import strategies as st

from onlooker_client.agent.frame_counts import Drop, Tally
from onlooker_client.agent.remote.state_file import Baseline
from onlooker_client.agent.remote.trial import (
    LONGEST,
    SETTLE_PART,
    Performance,
    Trial,
    TrialObservation,
    Verdict,
    count_served,
)

LENGTH_S = 180.0
BEFORE = Baseline(served_per_s=10.0, fps=10.0, had_pictures=True)


def judge(
    per_s: float,
    *,
    before: Baseline = BEFORE,
    fps: float = 10.0,
    has_pictures: bool = True,
    is_line_up: bool = True,
    is_other_camera: bool = False,
    limit_s: float = 10 * LENGTH_S,
) -> tuple[Verdict, float, str]:
    """Every ten seconds, until there is a verdict; and when it came."""
    trial = Trial(before, LENGTH_S, fps, TrialObservation(0.0, 0, False), is_other_camera=is_other_camera)
    at_s = 0.0
    while at_s < limit_s:
        at_s += 10.0
        now = TrialObservation(at_s, int(at_s * per_s), has_pictures)
        verdict, reason = trial.judge(now, is_line_up=is_line_up)
        if verdict is not Verdict.GO_ON:
            return verdict, at_s, reason
    return Verdict.GO_ON, at_s, ""


def test_a_device_that_does_as_before_keeps_it_after_the_trial() -> None:
    assert judge(10.0)[:2] == (Verdict.KEEP, LENGTH_S)


def test_fewer_than_half_of_the_frames_roll_it_back_with_the_figures() -> None:
    verdict, at_s, reason = judge(4.0)
    assert (verdict, at_s) == (Verdict.ROLL_BACK, LENGTH_S)
    assert "4 frames a second were answered, where 10 were to be expected" in reason


def test_a_lower_rate_on_purpose_is_not_worse() -> None:
    assert judge(2.0, fps=2.0)[0] is Verdict.KEEP
    assert judge(0.8, fps=2.0)[0] is Verdict.ROLL_BACK


def test_a_higher_rate_must_not_bring_less_than_before() -> None:
    assert judge(6.0, fps=30.0)[0] is Verdict.KEEP
    assert judge(3.0, fps=30.0)[0] is Verdict.ROLL_BACK


def test_a_camera_without_pictures_is_noticed_after_a_part_of_the_trial() -> None:
    verdict, at_s, reason = judge(0.0, has_pictures=False)
    assert (verdict, at_s) == (Verdict.ROLL_BACK, LENGTH_S * SETTLE_PART)
    assert "no pictures" in reason


def test_a_camera_that_was_away_before_is_not_the_configurations_fault() -> None:
    nothing = Baseline(0.0, 10.0, had_pictures=False)
    assert judge(0.0, before=nothing, has_pictures=False)[0] is Verdict.KEEP
    assert judge(0.0, before=nothing, has_pictures=False, is_other_camera=True)[0] is Verdict.ROLL_BACK


def test_a_line_that_is_away_is_waited_for_but_not_always() -> None:
    assert judge(0.0, is_line_up=False)[:2] == (Verdict.ROLL_BACK, LONGEST * LENGTH_S)
    assert judge(10.0, is_line_up=False)[:2] == (Verdict.KEEP, LENGTH_S)


def test_too_few_frames_say_nothing() -> None:
    assert judge(0.0, before=Baseline(0.02, 0.1, True), fps=0.1)[0] is Verdict.KEEP


def test_what_no_configuration_can_help_counts_as_served() -> None:
    tally = Tally()
    tally.skip_idle()
    tally.send(100)
    tally.answer()
    tally.drop(Drop.CLOSED)
    tally.drop(Drop.BUSY)
    assert count_served(tally.read()) == 3


def test_the_time_before_is_the_last_three_minutes() -> None:
    performance = Performance()
    for second in range(600):
        performance.see(TrialObservation(float(second), 0 if second < 300 else (second - 300) * 5, True))
    before = performance.baseline(TrialObservation(600.0, 1500, True), 10.0)
    assert 4.8 < before.served_per_s <= 5.0
    assert (before.fps, before.had_pictures) == (10.0, True)
    assert Performance().baseline(TrialObservation(3.0, 30, True), 10.0).served_per_s == 0.0


@given(
    st.floats(0, 40), st.floats(0.1, 30), st.tuples(st.floats(0, 30), st.floats(0.1, 30)), st.booleans(), st.booleans()
)
def test_there_is_always_a_verdict_in_time(
    per_s: float, fps: float, known: tuple[float, float], has_pictures: bool, is_line_up: bool
) -> None:
    before = Baseline(*known, True)
    verdict, at_s, reason = judge(per_s, before=before, fps=fps, has_pictures=has_pictures, is_line_up=is_line_up)
    assert verdict is not Verdict.GO_ON
    assert at_s <= LONGEST * LENGTH_S + 10
    assert (verdict is Verdict.ROLL_BACK) == bool(reason)
    if has_pictures and per_s >= known[0]:
        assert verdict is Verdict.KEEP
