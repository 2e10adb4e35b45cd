"""What the agent does after a refusal: how long it waits, what it counts, what it says."""

import pytest

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.agent.sending.backoff import LONGEST_S, Backoff, explain_refusal
from onlooker_client.errors import refusal


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (401, "bad_credentials", Drop.BAD_CREDENTIALS),
        (403, "quota_exceeded", Drop.QUOTA_EXCEEDED),
        (403, "stream_disabled", Drop.STREAM_DISABLED),
        (403, "stream_closed", Drop.CLOSED),
        (403, "something_new", Drop.REFUSED),
        (413, "too_large", Drop.REFUSED),
        (404, "not_found", Drop.REFUSED),
        (429, "rate_limited", Drop.SERVER_BUSY),
        (500, "internal_error", Drop.SERVER_BUSY),
        (502, "unknown", Drop.SERVER_BUSY),
        (503, "overloaded", Drop.SERVER_BUSY),
    ],
)
def test_every_refusal_has_a_reason_from_the_list(status: int, code: str, reason: Drop) -> None:
    hold = Backoff()
    assert hold.close(10.0, refusal(status, {"code": code})) is reason
    assert hold.refusal(10.5, in_flight=0) is reason
    assert hold.refusal(10.0 + LONGEST_S + 1, in_flight=0) is None


def test_a_busy_server_is_left_alone_for_as_long_as_it_asks() -> None:
    hold = Backoff()
    hold.close(10.0, refusal(503, {"code": "overloaded"}, retry_after_s=7.0))
    assert hold.refusal(16.9, in_flight=0) is Drop.SERVER_BUSY
    assert hold.refusal(17.0, in_flight=0) is None


def test_one_frame_at_a_time_tries_again() -> None:
    hold = Backoff()
    hold.close(10.0, refusal(429, {"code": "rate_limited"}, retry_after_s=1.0))
    assert hold.refusal(11.0, in_flight=0) is None
    assert hold.refusal(11.0, in_flight=1) is Drop.SERVER_BUSY
    hold.open()
    assert hold.refusal(11.0, in_flight=1) is None


def test_wrong_credentials_are_tried_less_and_less_often_up_to_a_minute() -> None:
    hold, now, pauses = Backoff(), 0.0, []
    for _ in range(10):
        hold.close(now, refusal(401, {"code": "bad_credentials"}))
        pauses.append(hold.until - now)
        now = hold.until
    assert pauses[0] == 2.0
    assert pauses == sorted(pauses)
    assert pauses[-1] == LONGEST_S


def test_a_used_up_month_is_said_with_its_end() -> None:
    words = explain_refusal(refusal(403, {"code": "quota_exceeded", "resets_at": "2026-12-01T00:00:00+00:00"}))
    assert "2026-12-01T00:00:00+00:00" in words
    assert "enterprise" in words


def test_a_picture_that_is_too_large_names_the_options() -> None:
    assert "--quality" in explain_refusal(refusal(413, {"code": "too_large", "detail": "Over 10 MiB."}))


def test_a_server_that_asks_for_an_hour_is_asked_again_after_a_minute() -> None:
    hold = Backoff()
    hold.close(0.0, refusal(503, {"code": "overloaded"}, 3600.0))
    assert hold.refusal(59.0, in_flight=0) is Drop.SERVER_BUSY
    assert hold.refusal(61.0, in_flight=0) is None
