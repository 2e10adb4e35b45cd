"""Kinds of stream: who may choose enterprise, and from when on a month is worth a warning."""

import pytest

from onlooker.settings import Settings
from onlooker.streams.options import WARNED_FROM, EnterpriseAccess, describe_kinds, enterprise_access, is_nearly_used_up

CARDS = {"stripe_secret_key": "sk_test_1"}
STAFF_ONLY = {"enterprise_without_billing": "staff"}


@pytest.mark.parametrize(
    ("given", "is_staff", "way"),
    [
        ({}, False, EnterpriseAccess.CHOICE),
        ({}, True, EnterpriseAccess.CHOICE),
        (STAFF_ONLY, False, EnterpriseAccess.STAFF),
        (STAFF_ONLY, True, EnterpriseAccess.CHOICE),
        (CARDS, False, EnterpriseAccess.CARD),
        (CARDS, True, EnterpriseAccess.CARD),
        (CARDS | STAFF_ONLY, False, EnterpriseAccess.CARD),
        (CARDS | STAFF_ONLY, True, EnterpriseAccess.CARD),
    ],
)
def test_who_may_choose_an_enterprise_stream(given: dict[str, str], is_staff: bool, way: EnterpriseAccess) -> None:
    assert enterprise_access(Settings(**given), is_staff=is_staff) is way


def test_kinds_are_told_in_a_sentence_each() -> None:
    told = describe_kinds(Settings(developer_quota_s=60))
    assert told["developer"] == "Developer: for non-commercial use only, and stops after 1 min of video each month"
    assert told["enterprise"] == "Enterprise: no monthly limit"
    assert describe_kinds(Settings(**CARDS))["enterprise"].endswith("needs a payment card")


@pytest.mark.parametrize(
    ("used_s", "quota_s", "is_warned"),
    [(79.9, 100, False), (80, 100, True), (99.9, 100, True), (100, 100, False), (1e9, None, False), (0, None, False)],
)
def test_a_month_is_worth_a_warning_from_80_percent_until_it_is_used_up(
    used_s: float, quota_s: float | None, is_warned: bool
) -> None:
    assert WARNED_FROM == 0.8
    assert is_nearly_used_up(used_s, quota_s) is is_warned
