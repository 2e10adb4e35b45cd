"""Whether a frame may go: on a link that works, that breaks, and that says nothing at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.agent.sending.link import ATTEMPT_EVERY_S, DEADLINE_S, MOST_IN_FLIGHT, Link


def drive_silent(link: Link, *, begins: float, seconds: float) -> list[int]:
    """Frames at ten a second into a link that never answers; the numbers of those that were sent."""
    sent: list[int] = []
    for beat in range(int(seconds * 10)):
        now = begins + beat / 10
        for number in link.overdue(now):
            link.lose(number)
        if link.refusal(now) is None:
            number = 1000 + beat
            link.send(number, now)
            sent.append(number)
    return sent


def test_a_dead_link_is_tried_once_a_second_and_never_stands_still() -> None:
    link = Link()
    sent = drive_silent(link, begins=0.0, seconds=60)
    gaps = [later - earlier for earlier, later in zip(sent[2:], sent[3:])]
    assert max(gaps) <= 20  # tenths of a second
    assert len(sent) <= 60 / ATTEMPT_EVERY_S + 5
    assert link.in_flight <= MOST_IN_FLIGHT


def test_the_first_answer_ends_all_older_frames() -> None:
    link = Link()
    sent = drive_silent(link, begins=0.0, seconds=8)
    given_up = link.answer(sent[-1], 8.1)
    assert given_up == [number for number in sent[:-1] if 8.1 - (number - 1000) / 10 >= 1.5]
    for number in given_up:
        link.give_up(number)
    assert link.failures == 0


def test_answers_that_are_a_little_out_of_order_end_nothing() -> None:
    link = Link()
    link.send(1, 0.0)
    link.send(2, 0.1)
    assert link.answer(2, 0.3) == []
    assert link.answer(1, 0.35) == []


def test_one_failure_is_tried_again_with_the_next_frame_and_many_once_a_second() -> None:
    link = Link()
    now, attempts = 0.0, []
    for beat in range(100):
        now = beat / 10
        if link.refusal(now) is None:
            link.send(beat, now)
            link.lose(beat)
            attempts.append(now)
    assert attempts[:2] == [0.0, 0.1]
    assert len(attempts) <= 15
    assert max(later - earlier for earlier, later in zip(attempts, attempts[1:])) <= 1.05
    assert link.refusal(now + 0.01) is Drop.UNREACHABLE


def test_a_slow_server_is_not_swamped() -> None:
    """Each frame takes three seconds, one after another."""
    link, under_way, free_at, latencies = Link(), {}, 0.0, []
    for beat in range(1200):
        now = beat / 10
        for number, (sent_at, done_at) in sorted(under_way.items()):
            if done_at <= now and number in under_way:
                del under_way[number]
                latencies.append(done_at - sent_at)
                for older in link.answer(number, now):
                    link.give_up(older)
                    del under_way[older]
        for number in link.overdue(now):
            link.lose(number)
            del under_way[number]
        if link.refusal(now) is None:
            link.send(beat, now)
            free_at = max(free_at, now) + 3.0
            under_way[beat] = (now, free_at)
    assert len(latencies) > 30
    assert max(latencies[5:]) < DEADLINE_S


def test_a_frame_that_takes_too_long_is_overdue() -> None:
    link = Link()
    link.send(1, 5.0)
    assert link.overdue(5.0 + DEADLINE_S - 0.1) == []
    assert link.overdue(5.0 + DEADLINE_S) == [1]


Step = st.tuples(
    st.sampled_from(["send", "answer", "lose", "give_up", "overdue"]), st.floats(0.0, 3.0), st.integers(0, 20)
)


@settings(max_examples=150, deadline=None)
@given(steps=st.lists(Step, max_size=150))
def test_whatever_happens_there_is_a_bound_and_a_way_on(steps: list[tuple[str, float, int]]) -> None:
    link, under_way, now, number = Link(), [], 0.0, 0
    for what, pause_s, which in steps:
        now += pause_s
        if what == "send" and link.refusal(now) is None:
            number += 1
            link.send(number, now)
            under_way.append(number)
        elif what == "overdue":
            for old in link.overdue(now):
                link.lose(old)
                under_way.remove(old)
        elif under_way and what in ("answer", "lose", "give_up"):
            chosen = under_way.pop(which % len(under_way))
            given_up = getattr(link, what)(chosen, now) if what == "answer" else getattr(link, what)(chosen)
            for old in given_up or []:
                link.give_up(old)
                under_way.remove(old)
        assert link.in_flight == len(under_way) <= MOST_IN_FLIGHT
    for old in list(under_way):
        link.lose(old)
    assert link.refusal(now + 2.0) is None


@pytest.mark.parametrize("failures", [1, 2, 5, 50])
def test_an_answer_makes_up_for_any_number_of_failures(failures: int) -> None:
    link, now = Link(), 0.0
    for number in range(failures):
        now += 1.0
        link.send(number, now)
        link.lose(number)
    link.send(999, now + 1.0)
    link.answer(999, now + 1.1)
    assert link.refusal(now + 1.1) is None
