"""A stream's dashboard: its numbers are the data endpoint's, gaps are no zeros, and it says why."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.test import Client

from dashboard_numbers import Shown, ask, cover, seen, show, write
from memberships import share_stream
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.figures import NO_VALUE, as_json
from onlooker.metrics.changes import FEWEST_PEOPLE
from onlooker.metrics.definitions import METRICS, Unit
from onlooker.streams.administration import create_stream
from onlooker.streams.models import DeviceCoverage, OpeningHours, Refusal, StateChange, Stream, Usage

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
WEEK = "from=2026-11-02&to=2026-11-08"
MONDAY_ALONE = "from=2026-11-02&to=2026-11-02"
LONG = "from=2026-10-20&to=2026-11-10"
HEADLINES = tuple(name for name, metric in METRICS.items() if metric.unit is not Unit.PARTS)
FRAGMENT = {"hx-request": "true"}


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    old = {"created_at": MONDAY - 30 * DAY, "retention_days": 3650, "reads_expression": True}
    Stream.objects.filter(pk=made.pk).update(**old)
    Usage.objects.create(stream=made, month="2026-11-01", video_s=1, last_frame_at=MONDAY + 8 * DAY)
    made.refresh_from_db()
    return made


@pytest.fixture
def watched(stream: Stream) -> Stream:
    """Monday to Wednesday of a week, and the Monday before, were watched, and people came."""
    cover(stream, MONDAY - 7 * DAY, MONDAY - 6 * DAY)
    cover(stream, MONDAY, MONDAY + 3 * DAY)
    people = [seen(stream, MONDAY + n * 5 * HOUR, looks=n % 2 == 0, age=20.0 + 5 * n) for n in range(14)]
    write(*people, seen(stream, MONDAY - 7 * DAY + HOUR))
    write(seen(stream, MONDAY + 2 * HOUR, looks=True, age=None, gender=None), fill=False)
    return stream


def assert_numbers(shown: Shown, stream: Stream) -> None:
    """Every number of the page, and of the data of its charts, for the range that the page itself names."""
    from_date, to_date, time = (shown.report[name] or "" for name in ("data-from", "data-to", "data-time"))
    values = ask(stream, from_date, to_date)["global"]
    passing_by, interested = values["passing_by"]["value"], values["interested"]["value"]
    for name in HEADLINES:
        number = values[name]["value"]
        is_told = METRICS[name].unit is Unit.PEOPLE or interested >= FEWEST_PEOPLE
        assert shown.numbers[name] == (as_json(number) if number is not None and is_told else "")
    assert shown.numbers["conversion"] == (as_json(interested / passing_by) if passing_by >= FEWEST_PEOPLE else "")
    for name in ("category", "gender", "age", "emotion"):
        if shown.data[name] is not None:
            assert shown.data[name] == values[name]
            assert [int(row[1]) for row in shown.tables[name][1:]] == list(values[name].values())
    buckets = ask(stream, from_date, to_date, time)
    assert [point["key"] for point in shown.data["points"]] == list(buckets)
    for point, bucket, row in zip(shown.data["points"], buckets.values(), shown.tables["time"][1:], strict=True):
        for name, cell in (("passing_by", row[1]), ("interested", row[2])):
            assert (point[name] or 0) == bucket[name]["value"]
            assert cell == ("\N{EN DASH}" if point["gap"] else str(point[name]))


@pytest.mark.parametrize("query", [WEEK, MONDAY_ALONE, "from=2026-11-02T09:30&to=2026-11-04T00:10", LONG])
def test_every_number_is_the_data_endpoints(sign_in: SignIn, owner: Account, watched: Stream, query: str) -> None:
    shown = show(sign_in(owner), watched, query)
    assert_numbers(shown, watched)
    assert int(shown.numbers["passing_by"] or 0) > 0


def test_the_fragment_has_the_numbers_of_the_page(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    browser = sign_in(owner)
    page, part = show(browser, watched, WEEK), show(browser, watched, WEEK, **FRAGMENT)
    assert part.page.strip().startswith('<section id="report"')
    assert (part.numbers, part.data) == (page.numbers, page.data)
    assert part.report["hx-get"] == ""  # the page's address, as it is then


def test_whoever_chooses_gets_a_new_picker_and_whoever_refreshes_keeps_it(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    browser = sign_in(owner)
    chosen = show(browser, stream, "period=3d", **FRAGMENT)
    assert sorted(map(str, chosen.chosen)) == ["by-hour", "period-3d"]
    assert 'id="picker"' in chosen.page
    assert 'hx-swap-oob="true"' in chosen.page
    refreshed = show(browser, stream, "period=3d", **FRAGMENT | {"hx-trigger": "report"})
    assert 'id="picker"' not in refreshed.page


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("period=7d", "<summary>Other dates</summary>"),
        ("period=last-month", '<summary class="chosen">Last month</summary>'),
        ("from=2026-11-02&to=2026-11-05", '<summary class="chosen">Chosen dates</summary>'),
    ],
)
def test_other_dates_say_which_are_chosen(
    sign_in: SignIn, owner: Account, stream: Stream, query: str, says: str
) -> None:
    page = show(sign_in(owner), stream, query).page
    assert says in page
    assert '<details id="other-dates" class="other-dates">' in page


def test_other_dates_stay_open_to_be_corrected(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    page = sign_in(owner).get(f"/streams/{stream.client_id}/dashboard/?from=2026-11-05&to=2026-11-02").content.decode()
    assert '<details id="other-dates" class="other-dates" open>' in page


def test_the_usual_period_is_seven_days_and_goes_on(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    shown = show(sign_in(owner), stream)
    assert sorted(map(str, shown.chosen)) == ["by-day", "period-7d"]
    assert (shown.report["data-time"], shown.report["data-moving"]) == ("by_day", "yes")
    assert len(shown.data["points"]) == 7
    assert show(sign_in(owner), stream, MONDAY_ALONE).report["data-moving"] == "no"


def test_hours_without_a_camera_are_gaps_with_their_reason(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    StateChange.objects.create(stream=watched, at=MONDAY + 3 * DAY, state="disabled")
    StateChange.objects.create(stream=watched, at=MONDAY + 4 * DAY, state="quota")
    StateChange.objects.create(stream=watched, at=MONDAY + 5 * DAY, state="enabled")
    for number in range(96):
        at = MONDAY + 6 * DAY + number * timedelta(minutes=15)
        Refusal.objects.create(stream=watched, slot_at=at, reason="overloaded", frames=9)
    shown = show(sign_in(owner), watched, WEEK)
    gaps = [point["gap"] for point in shown.data["points"]]
    assert gaps == [None, None, None, "disabled", "quota", "offline", "refused"]
    words = [row[3] for row in shown.tables["time"][1:]]
    assert words[2] == "watched all the time"
    assert words[3:] == [
        "disabled",
        "monthly limit reached",
        "offline",
        "frames refused (the server was overloaded)",
    ]
    assert all(point["passing_by"] is None for point in shown.data["points"][3:])
    assert "The camera watched 43 % of this time. The rest: " in shown.page
    assert_numbers(shown, watched)


def test_who_was_seen_without_coverage_is_no_gap(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    write(seen(stream, MONDAY + HOUR))
    [point, *others] = show(sign_in(owner), stream, WEEK).data["points"]
    assert (point["passing_by"], point["gap"], point["watched"]) == (1, None, 0)
    assert {other["gap"] for other in others} == {"offline"}


def test_a_partly_watched_day_keeps_its_number_and_says_so(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    cover(stream, MONDAY, MONDAY + 6 * HOUR)
    write(seen(stream, MONDAY + HOUR))
    point = show(sign_in(owner), stream, WEEK).data["points"][0]
    assert (point["passing_by"], point["watched"], point["gap"]) == (1, 0.25, None)
    assert point["words"] == "watched 6 h; offline 18 h"


@pytest.mark.parametrize(("day", "hours"), [("2026-10-25", 25), ("2026-03-29", 23)])
def test_a_day_on_which_clocks_change(sign_in: SignIn, owner: Account, stream: Stream, day: str, hours: int) -> None:
    shown = show(sign_in(owner), stream, f"from={day}&to={day}")
    labels = [point["label"] for point in shown.data["points"]]
    assert len(set(labels)) == hours
    assert_numbers(shown, stream)


def test_days_lead_to_their_hours(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    browser = sign_in(owner)
    assert 'href="?from=2026-11-02&amp;to=2026-11-02"' in show(browser, watched, WEEK).page
    hours = show(browser, watched, MONDAY_ALONE)
    assert hours.report["data-time"] == "by_hour"
    assert len(hours.data["points"]) == 24


def test_weeks_lead_to_their_days(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    shown = show(sign_in(owner), watched, "from=2026-10-01&to=2026-11-15&by=week")
    assert shown.report["data-time"] == "by_week"
    assert len(shown.data["points"]) == 7
    assert 'href="?from=2026-11-02&amp;to=2026-11-08"' in shown.page
    assert_numbers(shown, watched)


def test_the_chart_offers_the_buckets_that_make_sense(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    browser = sign_in(owner)
    days = show(browser, watched, WEEK)
    assert "People by day" in days.page
    assert f'href="?{WEEK.replace("&", "&amp;")}&amp;by=hour"' in days.page
    assert 'id="by-month"' not in days.page
    quarters = show(browser, watched, f"{MONDAY_ALONE}&by=quarter-hour")
    assert "People by quarter hour" in quarters.page
    assert len(quarters.data["points"]) == 96
    assert "&amp;by=quarter-hour" in quarters.page.split('id="download"')[1].split(">")[0]
    assert_numbers(quarters, watched)


def test_the_week_counts_hours_that_were_watched(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    week = show(sign_in(owner), watched, WEEK).data["week"]
    assert (week[0][2], week[0][3]) == (1, 0)
    assert week[3] == [None] * 24


def test_the_comparison_is_with_the_week_before(sign_in: SignIn, owner: Account, watched: Stream) -> None:
    cover(watched, MONDAY - 6 * DAY, MONDAY - 4 * DAY)
    page = show(sign_in(owner), watched, WEEK).page
    assert "Compared with Mon 26 Oct to Sun 1 Nov (watched 43 %)." in page
    assert "15 times as much" in page
    assert "Compared over 72 of 168 h." in page
    earlier = show(sign_in(owner), watched, "from=2026-10-26&to=2026-11-01").page
    assert earlier.count("no comparison: the earlier period was not watched") == 3  # of nobody there is no mean


def test_what_was_watched_much_less_is_nothing_to_compare_with(
    sign_in: SignIn, owner: Account, watched: Stream
) -> None:
    page = show(sign_in(owner), watched, WEEK).page
    assert "Compared with Mon 26 Oct to Sun 1 Nov (watched 14 %)." in page
    assert page.count("no comparison: only 24 of 168 h were watched in both periods") == 4


def test_a_stream_that_never_saw_anything_leads_its_owner_to_the_set_up(
    sign_in: SignIn, owner: Account, viewer: Account, stream: Stream
) -> None:
    Usage.objects.all().delete()
    share_stream(stream, viewer)
    page = show(sign_in(owner), stream).page
    assert "No frame has arrived yet." in page
    assert "Set up the camera" in page
    assert f"/streams/{stream.client_id}/try/" in page
    assert "Set up" not in show(sign_in(viewer), stream).page


def test_why_is_this_zero(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    browser = sign_in(owner)
    unwatched = show(browser, stream, WEEK)
    assert "Nothing was watched. The camera sent nothing." in unwatched.page
    assert unwatched.page.count("not watched</dd>") == len(unwatched.numbers)
    assert unwatched.page.count("Not watched.") == len(("gender", "category", "age", "emotion"))
    assert unwatched.numbers["passing_by"] == "0"  # as the data endpoint has it, though nobody is shown it
    cover(stream, MONDAY, MONDAY + DAY)
    assert '<p class="zero">Nobody passed by.</p>' in show(browser, stream, MONDAY_ALONE).page
    assert "Nobody passed by while the camera watched." in show(browser, stream, WEEK).page
    Stream.objects.update(coverage_since=MONDAY + 7 * DAY)
    assert "It is no longer known" in show(browser, stream, "from=2026-11-05&to=2026-11-06").page


@pytest.mark.parametrize("coverage_since", [None, MONDAY])
@pytest.mark.parametrize("period", ["from=2026-09-01&to=2026-09-02", "from=2026-09-01T10:00:00&to=2026-09-01T10:00:30"])
def test_before_the_stream_existed_there_are_dashes_and_no_zeros(
    sign_in: SignIn, owner: Account, stream: Stream, period: str, coverage_since: datetime | None
) -> None:
    Stream.objects.update(coverage_since=coverage_since)
    Usage.objects.all().delete()  # of a stream that never saw anything, too
    shown = show(sign_in(owner), stream, period)
    assert '<p class="zero">The stream did not exist yet.</p>' in shown.page
    assert shown.page.count("the stream did not exist yet</dd>") == len(shown.numbers)
    assert shown.page.count('<p class="nothing">The stream did not exist yet.</p>') == 4
    assert {(point["gap"], point["passing_by"]) for point in shown.data["points"]} == {("not_created", None)}
    assert {tuple(row[1:]) for row in shown.tables["time"][1:]} == {
        (NO_VALUE, NO_VALUE, "before the stream was created")
    }
    assert_numbers(shown, stream)  # the data endpoint's own answers are zeros, as the interface has them


def test_a_period_that_began_before_the_stream_says_how_much_of_it(
    sign_in: SignIn, owner: Account, stream: Stream
) -> None:
    Stream.objects.update(created_at=MONDAY + 2 * DAY + 7 * timedelta(minutes=1))
    cover(stream, MONDAY + 2 * DAY + timedelta(minutes=15), MONDAY + 7 * DAY)
    shown = show(sign_in(owner), stream, WEEK)
    gaps = [point["gap"] for point in shown.data["points"]]
    assert gaps == ["not_created", "not_created", None, None, None, None, None]
    assert "The camera watched 71 % of this time. The rest: 2 days before the stream was created" in shown.page


def test_a_film_of_a_time_before_the_stream_is_shown(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.update(created_at=MONDAY + 10 * DAY)
    cover(stream, MONDAY, MONDAY + 6 * HOUR)
    write(seen(stream, MONDAY + HOUR))
    shown = show(sign_in(owner), stream, MONDAY_ALONE)
    assert [point["passing_by"] for point in shown.data["points"][:6]] == [0, 1, 0, 0, 0, 0]
    assert {point["gap"] for point in shown.data["points"][6:]} == {"not_created"}
    assert '<dd class="value" data-metric="passing_by" data-value="1">1</dd>' in shown.page


def test_what_is_switched_off_is_not_read(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    cover(stream, MONDAY, MONDAY + DAY)
    nothing = {"age": None, "gender": None, "expression": None}
    write(seen(stream, MONDAY + HOUR, looks=True, **nothing))
    Stream.objects.update(reads_age=False, reads_gender=False, reads_expression=False)
    shown = show(sign_in(owner), stream, MONDAY_ALONE)
    for words in ("Gender is", "Age and gender are", "Age is", "Expression is"):
        assert f'<p class="nothing">{words} switched off for this stream.</p>' in shown.page
    assert "expression is switched off for this stream</dd>" in shown.page
    assert [shown.data[name] for name in ("category", "gender", "age", "emotion")] == [None] * 4
    write(seen(stream, MONDAY + 2 * HOUR, looks=True))
    assert "switched off" not in show(sign_in(owner), stream, MONDAY_ALONE).page


def test_what_was_typed_stays_in_the_form_to_be_mended(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    typed = "from=2026-11-03T09:00&to=2026-11-02T09:00"
    for shown in (show(sign_in(owner), stream, typed, status=400), show(sign_in(owner), stream, typed, **FRAGMENT)):
        assert 'value="2026-11-03T09:00"' in shown.page
        assert 'value="2026-11-02T09:00"' in shown.page


def test_a_viewer_sees_the_numbers_and_no_settings(
    sign_in: SignIn, owner: Account, viewer: Account, watched: Stream
) -> None:
    share_stream(watched, viewer)
    mine, theirs = show(sign_in(owner), watched, WEEK), show(sign_in(viewer), watched, WEEK)
    assert (theirs.numbers, theirs.data) == (mine.numbers, mine.data)
    assert "settings" not in theirs.page


def test_a_stranger_finds_nothing(sign_in: SignIn, stranger: Account, stream: Stream) -> None:
    show(sign_in(stranger), stream, status=404)


@pytest.mark.parametrize("query", ["period=8d", "from=2026-02-30", "from=2026-11-02&to=2026-11-01"])
def test_what_is_no_period_is_said_on_the_page_and_in_the_fragment(
    sign_in: SignIn, owner: Account, stream: Stream, query: str
) -> None:
    browser = sign_in(owner)
    page = show(browser, stream, query, status=400)
    part = show(browser, stream, query, **FRAGMENT)
    for shown in (page, part):
        assert shown.report["id"] == "report"
        assert 'role="alert"' in shown.page
        assert "data-from" not in shown.report
        assert not shown.chosen


def test_a_name_of_a_stream_is_text(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    Stream.objects.update(name="<script>alert(1)</script>")
    assert "<script>alert" not in show(sign_in(owner), stream).page


def test_what_was_computed_on_the_device_and_came_later_is_said(
    sign_in: SignIn, owner: Account, watched: Stream
) -> None:
    browser, said = sign_in(owner), "Computed on the device; part of it arrived up to 4 days later."
    address = f"/streams/{watched.client_id}/dashboard/?{MONDAY_ALONE}"
    assert "omputed on the device" not in browser.get(address).content.decode()
    came_at = MONDAY + 4 * DAY
    for slot_at in (MONDAY + number * timedelta(minutes=15) for number in range(96)):
        times = {"slot_at": slot_at, "first_at": came_at, "last_at": came_at}
        sums = {"revision": 1, "watched_s": 900, "counted_s": 900, "sums": {}}
        DeviceCoverage.objects.create(stream=watched, device=UUID(int=1), **times, **sums)
    assert said in browser.get(address).content.decode()


def close(stream: Stream, hours: str) -> None:
    """These opening hours have held since long ago."""
    OpeningHours.objects.create(stream=stream, since_at=MONDAY - 30 * DAY, hours=hours, time_zone="Europe/Paris")


def test_closed_hours_are_no_gap_and_say_so(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    close(stream, "mo-fr 09:00-18:30")
    cover(stream, MONDAY + 9 * HOUR, MONDAY + 18 * HOUR)
    write(seen(stream, MONDAY + 10 * HOUR))
    shown = show(sign_in(owner), stream, MONDAY_ALONE)
    points = shown.data["points"]
    assert [point["gap"] for point in points] == ["closed"] * 9 + [None] * 9 + ["offline"] + ["closed"] * 5
    assert [row[1] for row in shown.tables["time"][1:10]] == [NO_VALUE] * 9
    assert {row[3] for row in shown.tables["time"][1:10]} == {"closed"}
    assert "The camera watched 95 % of the opening hours. The rest: offline 30 min." in shown.page


def test_a_closed_day_has_dashes_and_one_word(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    close(stream, "tu 09:00-18:30")
    shown = show(sign_in(owner), stream, MONDAY_ALONE)
    assert "The stream was closed all this time." in shown.page
    assert shown.numbers["passing_by"] in ("", "0")
    assert "People may have passed by" not in shown.page


def test_closed_time_is_not_missing_from_a_comparison(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    close(stream, "mo-fr 10:00-12:00")
    for week in (0, 7):
        for day in range(5):
            begins = MONDAY + (day - week) * DAY + 10 * HOUR
            cover(stream, begins, begins + 2 * HOUR)
            write(*(seen(stream, begins + n * HOUR / 10) for n in range(6)))
    page = show(sign_in(owner), stream, WEEK).page
    assert "Compared over 10 of 10 h." in page
    assert "no comparison: only" not in page


def test_a_stream_that_only_counts_has_dashes_with_the_reason(sign_in: SignIn, owner: Account, stream: Stream) -> None:
    cover(stream, MONDAY, MONDAY + DAY)
    write(seen(stream, MONDAY + HOUR, age=None, gender=None, expression=None))
    Stream.objects.update(reads_faces=False)
    shown = show(sign_in(owner), stream, MONDAY_ALONE)
    assert shown.numbers["passing_by"] == "1"
    assert (shown.numbers["interested"], shown.numbers["conversion"]) == ("", "")
    assert shown.page.count("this stream only counts: no face is looked for") == 5
    assert shown.numbers["stopped"] is not None
    assert {row[2] for row in shown.tables["time"][1:]} == {NO_VALUE}
