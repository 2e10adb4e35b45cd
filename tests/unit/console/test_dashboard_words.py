"""What a dashboard says: gaps and their reasons, changes, labels, how busy the hours of a week are."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils.translation import override

from onlooker.console.dashboard.figures import (
    describe_change,
    describe_size,
    explain_no_comparison,
    format_compared_s,
    make_figure,
)
from onlooker.console.dashboard.period import format_period, format_range, parse_period
from onlooker.console.dashboard.presentation import (
    describe_coverage,
    describe_gap,
    describe_missing,
    describe_people,
    format_duration,
    format_share,
    format_share_interval,
    label_buckets,
)
from onlooker.console.dashboard.report import draw_week, find_gap, watched_share
from onlooker.console.languages.locale_text import write_named, write_weekday
from onlooker.metrics.changes import ChangeKind, compare_counts, compare_metric, compare_shares
from onlooker.metrics.comparison import Comparison, LikeTime, NoComparison
from onlooker.metrics.coverage import Absence, BucketCoverage, sum_coverage
from onlooker.metrics.definitions import METRICS, Figures
from onlooker.metrics.like_time import SlotPairs, TimeRange
from onlooker.metrics.query import Time
from onlooker.streams.coverage import Reason
from onlooker_pipeline.service_call import PictureFault

PARIS = ZoneInfo("Europe/Paris")
NOW = datetime(2026, 11, 15, 16, 9, 55, tzinfo=UTC)
HOUR = 3600.0


def watched(covered_s: float, refused_for: Reason | None = None, **missing: float) -> BucketCoverage:
    length_s = covered_s + sum(missing.values())
    return BucketCoverage(length_s, covered_s, {Absence(why): lost for why, lost in missing.items()}, refused_for)


@pytest.mark.parametrize(
    ("coverage", "gap"),
    [
        (watched(0, offline=HOUR), "offline"),
        (watched(30, offline=HOUR - 30), "offline"),
        (watched(40, offline=HOUR - 40), None),
        (watched(0, offline=1000, disabled=2600), "disabled"),
        (watched(0, quota=HOUR), "quota"),
        (watched(0, Reason.OVERLOADED, refused=HOUR), "refused"),
        (watched(0, covered=HOUR), "covered"),
        (watched(0, unknown=HOUR), None),
        (watched(0, unknown=2000, offline=1600), None),
        (watched(0, unknown=1600, offline=2000), "offline"),
        (watched(HOUR), None),
        (watched(0, offline=30), None),  # a bucket that only began
        (watched(0, not_created=HOUR), "not_created"),
        (watched(0, not_created=30), "not_created"),
        (watched(1800, not_created=1800), None),
        (watched(0), None),
    ],
)
def test_a_time_that_was_not_watched_is_a_gap_with_its_main_reason(coverage: BucketCoverage, gap: str | None) -> None:
    assert find_gap(coverage) == gap


@pytest.mark.parametrize(
    ("coverage", "words"),
    [
        (watched(80_340, offline=6060), "watched 22 h 19 min; offline 1 h 41 min"),
        (watched(HOUR), "watched all the time"),
        (watched(HOUR - 17, offline=17), "watched all the time"),
        (watched(30 * 24 * HOUR, offline=301), "watched 30 days; offline 5 min"),
        (watched(1800, disabled=600, quota=1200), "watched 30 min; monthly limit reached 20 min; disabled 10 min"),
        (
            watched(1800, Reason.RATE_LIMITED, refused=1800),
            "watched 30 min; frames refused 30 min (frames arrived faster than a stream may send them)",
        ),
        (watched(0, unknown=HOUR), "unknown 1 h"),
        (watched(0), "just started"),
    ],
)
def test_a_bucket_says_how_much_of_it_was_watched(coverage: BucketCoverage, words: str) -> None:
    assert describe_coverage(coverage) == words


def test_a_gap_says_its_reason_and_how_long_only_where_there_are_several() -> None:
    assert describe_gap(watched(0, offline=HOUR)) == "offline"
    assert describe_gap(watched(0, offline=900, disabled=2700)) == "disabled 45 min; offline 15 min"
    refused = watched(0, Reason.OVERLOADED, refused=HOUR)
    assert describe_gap(refused) == "frames refused (the server was overloaded)"
    assert describe_gap(watched(0, not_created=HOUR)) == "before the stream was created"


@pytest.mark.parametrize("reason", Reason)
def test_every_refusal_is_explained(reason: Reason) -> None:
    assert describe_gap(watched(0, reason, refused=HOUR)).startswith("frames refused (")


def test_time_before_the_stream_was_made_was_not_offline() -> None:
    said = describe_missing(watched(0, offline=HOUR, not_created=2 * HOUR))
    assert said == ["2 h before the stream was created", "offline 1 h"]
    recorded = watched(2 * HOUR, not_created=HOUR)  # filmed before, sent later
    assert describe_coverage(recorded) == "watched 2 h; 1 h before the stream was created"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (59.4, "59 s"),
        (59.6, "1 min"),
        (3599, "1 h"),
        (90_000, "25 h"),
        (172_800, "2 days"),
        (31_550_000, "365 days 4 h"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, words: str) -> None:
    assert format_duration(seconds) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [(0, "0 %"), (0.001, "less than 1 %"), (0.25, "25 %"), (0.9999, "more than 99 %"), (1, "100 %")],
)
def test_nothing_and_all_are_said_where_they_are_exact(share: float, words: str) -> None:
    assert format_share(share) == words


def test_no_share_is_known_where_coverage_is_not() -> None:
    assert watched_share(watched(900, unknown=900, offline=1800)) is None
    assert watched_share(watched(0)) is None
    assert watched_share(watched(900, offline=2700)) == 0.25


def like_time(compared_h: float = 131, hours: float = 168, reason: NoComparison | None = None) -> LikeTime:
    before = TimeRange(NOW - timedelta(days=14), NOW - timedelta(days=7))
    pairs = (SlotPairs(0, 0, int(compared_h * HOUR)),)
    return LikeTime(before, hours * HOUR, (pairs[0].now,), pairs, reason)


@pytest.mark.parametrize(
    ("now", "before", "direction", "words"),
    [
        (1200, 1000, "up", "20 % more"),
        (950, 1500, "down", "37 % less"),
        (97_000, 100_000, "down", "3.0 % less"),
        (0, 100, "down", "100 % less"),
        (30, 0, "up", "0 before"),
        (1500, 100, "up", "15 times as much"),
        (3, 0, "same", "about the same"),
        (0, 0, "same", "about the same"),
        (120, 100, "same", "about the same"),
        (100_001, 100_000, "same", "about the same"),
    ],
)
def test_a_change_of_a_count_is_told_unless_chance_explains_it(
    now: int, before: int, direction: str, words: str
) -> None:
    change = describe_change(compare_counts(now, before, exposure=1.0), like_time(), is_of_people=False)
    assert (change.direction, change.words, change.compared) == (direction, words, "compared over 131 of 168 h")
    assert "95 % interval: " in change.chance


def test_a_change_says_what_chance_does() -> None:
    said = describe_change(compare_counts(120, 100, exposure=1.0), like_time(), is_of_people=False)
    assert said.chance == "20 % more; 95 % interval: 7.9 % less to 56 % more"
    said = describe_change(compare_shares((500, 1000), (400, 1000)), like_time())
    assert (said.direction, said.words) == ("up", "10.0 points more")
    assert said.chance == "95 % interval: 5.6 points more to 14.3 points more"
    grown = describe_change(compare_counts(30, 0, exposure=1.0), like_time(), is_of_people=False)
    assert grown.chance.startswith("95 % interval: at least ")


def test_no_share_is_compared_of_fewer_than_ten_people() -> None:
    assert describe_change(compare_shares((5, 9), (400, 1000)), like_time()).words == (
        "no comparison: fewer than 10 people"
    )
    assert describe_change(compare_shares((5, 10), (40, 100)), like_time()).direction == "same"


@pytest.mark.parametrize(
    ("like", "coverage", "words"),
    [
        (like_time(40, 168, NoComparison.TOO_LITTLE), None, "only 40 of 168 h were watched in both periods"),
        (like_time(0, 168, NoComparison.NOT_WATCHED), None, "not watched"),
        (like_time(0, 7.26, NoComparison.TOO_LITTLE), None, "only 0 of 7.3 h were watched in both periods"),
        (like_time(0, 9, NoComparison.NOT_WATCHED_BEFORE), watched(0, offline=9), "the earlier period was not watched"),
        (
            like_time(0, 9, NoComparison.NOT_WATCHED_BEFORE),
            watched(0, not_created=9),
            "the stream did not exist in the earlier period",
        ),
        (
            like_time(0, 9, NoComparison.NOT_WATCHED_BEFORE),
            watched(0, unknown=9),
            "it is no longer known when the camera watched in the earlier period",
        ),
    ],
)
def test_where_there_is_no_comparison_the_reason_is_told(
    like: LikeTime, coverage: BucketCoverage | None, words: str
) -> None:
    assert explain_no_comparison(like, coverage).words == f"no comparison: {words}"


def comparison_of(passing_by: int, interested: int, *, reason: NoComparison | None = None) -> Comparison:
    """The same numbers as before; interested people stop for 5 and 7 seconds, slot by slot."""
    half = interested // 2
    clusters: dict[str, list[Figures]] = {
        "passing_by": [(passing_by,)],
        "interested": [(interested,)],
        "stop_time": [(half * 5_000_000, half), ((interested - half) * 7_000_000, interested - half)],
    }
    changes = {
        name: compare_metric(METRICS[name], figures, figures, exposure=1.0) for name, figures in clusters.items()
    }
    return Comparison(like_time(reason=reason), changes, clusters, (0.0, 900.0), exact=True)


def test_a_figure_has_the_number_as_the_data_endpoint_writes_it() -> None:
    found = comparison_of(12_345, 20)
    assert make_figure("passing_by", 12_345, found).value == "12345"
    assert make_figure("stop_time", 7.564356557377, found).value == "7.564356557377"
    shown = make_figure("conversion", 20 / 12_345, found)
    assert (shown.shown, shown.unit, shown.interval) == ("0.2", "%", "0.1 to 0.3 %")
    assert (shown.change.words, shown.compared) == ("about the same", "0.2 %, before: 0.2 %")


def test_pages_tell_no_mean_and_no_share_of_fewer_than_ten_people() -> None:
    found = comparison_of(9, 9)
    for metric, value in (("conversion", 1.0), ("stop_time", 6.0)):
        figure = make_figure(metric, value, found)
        assert (figure.value, figure.shown, figure.change.words) == ("", "\N{EN DASH}", "fewer than 10 people")
    assert make_figure("passing_by", 9, found).shown == "9"
    assert format_share_interval(3, 9) == ""
    assert format_share_interval(5, 20) == "11 to 47 %"


def test_ranges_are_said_by_the_local_clock() -> None:
    said = {
        "period=7d": "Mon 9 Nov 00:00 to now",
        "from=2026-11-03&to=2026-11-03": "Tue 3 Nov",
        "from=2026-11-01&to=2026-11-10": "Sun 1 Nov to Tue 10 Nov",
        "from=2025-12-31&to=2026-01-01": "Wed 31 Dec 2025 to Thu 1 Jan",
        "from=2026-11-03T09:00&to=2026-11-03T12:30": "Tue 3 Nov 09:00 to 12:30",
        "from=2026-03-29&to=2026-03-29": "Sun 29 Mar",
    }
    for query, words in said.items():
        parameters = dict(pair.split("=") for pair in query.split("&"))
        assert format_period(parse_period(parameters, zone=PARIS, now=NOW), now=NOW) == words


def test_a_day_that_begins_at_one_is_a_whole_day() -> None:
    beirut = ZoneInfo("Asia/Beirut")
    from_at = datetime(2026, 3, 28, 22, tzinfo=UTC)
    assert format_range(from_at, from_at + timedelta(hours=23), beirut, now=NOW) == "Sun 29 Mar"


def test_an_hour_that_the_clock_shows_twice_has_its_offset() -> None:
    keys = ["2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+02:00", "2026-10-25T02:00:00+01:00"]
    assert label_buckets(keys, Time.BY_HOUR) == ["01:00", "02:00 (+02:00)", "02:00 (+01:00)"]


def test_labels_have_a_day_where_hours_are_of_several_and_a_year_where_days_are() -> None:
    assert label_buckets(["2026-11-01T23:00:00+01:00", "2026-11-02T00:00:00+01:00"], Time.BY_HOUR) == [
        "Sun 1 Nov 23:00",
        "Mon 2 Nov 00:00",
    ]
    assert label_buckets(["2026-11-01T00:00:00+01:00"], Time.BY_DAY) == ["Sun 1 Nov"]
    assert label_buckets(["2026-11-02T00:00:00+01:00"], Time.BY_WEEK) == ["Mon 2 Nov"]
    assert label_buckets(["2026-11-01T00:00:00+01:00"], Time.BY_MONTH) == ["Nov 2026"]
    years = ["2025-12-31T00:00:00+01:00", "2026-01-01T00:00:00+01:00"]
    assert label_buckets(years, Time.BY_DAY) == ["Wed 31 Dec 2025", "Thu 1 Jan 2026"]


def test_days_and_numbers_are_written_as_the_language_writes_them() -> None:
    with override("de"):
        assert label_buckets(["2026-11-02T00:00:00+01:00"], Time.BY_WEEK) == ["Mo, 2. Nov."]
        assert "12,3" in describe_size(0.1234, ChangeKind.DIFFERENCE)
        assert "1.234" in format_compared_s(1234 * HOUR, 5678 * HOUR)
    with override("fr"):
        assert describe_size(-0.0195, ChangeKind.DIFFERENCE) == "1,9 point de moins"
        assert describe_size(0.01996, ChangeKind.DIFFERENCE) == "2,0 points de plus"
        assert write_named("Passants", 12) == "Passants\N{NO-BREAK SPACE}: 12"
        assert write_weekday(date(2026, 11, 2)) == "lun. 2 nov."
    assert label_buckets(["2026-11-02T00:00:00+01:00"], Time.BY_WEEK) == ["Mon 2 Nov"]


def test_the_week_has_people_per_hour_that_was_watched() -> None:
    week = draw_week([9, 9, 9, 6 * 24 + 23, 6 * 24 + 22], [10, 3, 50, 0, 7], [HOUR, HOUR / 2, 1799, HOUR, 0])
    assert week[0][9] == pytest.approx(13 / 1.5)
    assert (week[6][23], week[6][22], week[3][12]) == (0, None, None)
    assert [len(day) for day in week] == [24] * 7


def test_coverage_adds_up_with_the_reason_that_cost_most() -> None:
    hours = [
        watched(600, Reason.FAILED, refused=100, offline=200),
        watched(0, Reason.OVERLOADED, refused=900),
        watched(900),
    ]
    together = sum_coverage(hours)
    assert together == BucketCoverage(
        2700, 1500, {Absence.REFUSED: 1000, Absence.OFFLINE: 200}, refused_for=Reason.OVERLOADED
    )
    assert sum_coverage([]) == BucketCoverage(0, 0, {}, None)


def test_emotions_are_also_told_as_positive_neutral_and_negative() -> None:
    counts = {"neutral": 3, "happiness": 4, "surprise": 1, "anger": 1, "sadness": 1, "?": 7}
    assert describe_people("emotion", counts | {"neutral": 2}) == "Interested people"
    assert describe_people("emotion", counts) == "Interested people: 40 % positive, 40 % neutral, 20 % negative"
    assert describe_people("emotion", dict.fromkeys(counts, 0) | {"?": 7}) == "Interested people"
    assert describe_people("age", {"0-14": 1, "?": 2}) == "Interested people"


def test_a_blind_camera_is_told_with_its_condition() -> None:
    assert describe_coverage(watched(3 * HOUR, **{"dark": 600.0, "covered": 7800.0})) == (
        "watched 3 h; lens covered 2 h 10 min; too dark 10 min"
    )


@pytest.mark.parametrize("fault", PictureFault)
def test_every_fault_of_a_camera_is_an_absence_with_words(fault: PictureFault) -> None:
    assert describe_gap(watched(0, **{fault.value: HOUR})) not in ("", fault.value)
