"""Changing many streams at once: a preview that holds, what is changed, by whom, and what is not."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from memberships import share_stream
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.streams import bulk_changes
from onlooker.streams.administration import create_stream
from onlooker.streams.bulk_changes import BulkChange, parse_tags, plan_changes
from onlooker.streams.models import MemberRole, Site, Stream, Tag
from onlooker.streams.organisations import RefusedError, organisation_of

pytest_plugins = ["pages"]

SignIn = Callable[[Account | None], Client]
CHANGE = "/streams/change/"


@pytest.fixture
def streams(owner: Account) -> list[Stream]:
    return [create_stream(name, owner=owner, kind="enterprise").stream for name in ("One", "Two", "Three")]


def send(browser: Client, streams: list[Stream], *, shown: str = "", **values: Any) -> str:
    given = {"streams": ",".join(str(stream.pk) for stream in streams), **values}
    answer = browser.post(CHANGE, given | ({"shown": shown} if shown else {}), follow=True)
    assert answer.status_code == 200
    return answer.content.decode()


def digest_of(page: str) -> str:
    [found] = re.findall(r'name="shown" value="([0-9a-f]{64})"', page)
    return str(found)


def test_a_preview_changes_nothing_and_says_what_would(sign_in: SignIn, owner: Account, streams: list[Stream]) -> None:
    Stream.objects.filter(pk=streams[0].pk).update(retention_days=90)
    page = send(sign_in(owner), streams, retention_days=90, add_tags="window, entrance")
    assert "Keep visits for (days): 2 of 3 streams" in page
    assert "Tags: 3 of 3 streams" in page
    assert "Older visits of 2 streams will be deleted." in page
    assert "Tag added: window" in page
    assert digest_of(page)
    assert sorted(Stream.objects.values_list("retention_days", flat=True)) == [90, 365, 365]
    assert not Tag.objects.exists()


def test_what_was_shown_is_changed_and_logged_with_who_did_it(
    sign_in: SignIn, owner: Account, streams: list[Stream]
) -> None:
    site = Site.objects.create(organisation=organisation_of(owner), name="North gate")
    wanted: dict[str, Any] = {
        **{"site": str(site.pk), "add_tags": "window", "retention_days": 90, "groups_of": 5},
        **{"hours_choice": "set", "hours": "mo-fr 9:00-17:00"},
    }
    browser = sign_in(owner)
    page = send(browser, streams[:2], **wanted)
    assert "always open → mo-fr 09:00-17:00" in page
    assert "no site → North gate" in page
    done = send(browser, streams[:2], shown=digest_of(page), **wanted)
    assert "2 streams changed." in done
    for stream in Stream.objects.order_by("pk")[:2]:
        assert (stream.site, stream.retention_days, stream.groups_of) == (site, 90, 5)
        assert stream.hours == "mo-fr 09:00-17:00"
        assert stream.opening_hours.count() == 1
        assert [link.tag.name for link in stream.tag_links.all()] == ["window"]
        entries = AuditEntry.objects.filter(stream=stream, actor=f"account:{owner.pk}").order_by("number")
        assert [entry.action for entry in entries] == ["stream.changed", "stream.tagged"]
    untouched = Stream.objects.get(pk=streams[2].pk)
    assert (untouched.site, untouched.retention_days) == (None, 365)


def test_what_changed_in_the_meantime_is_shown_again(sign_in: SignIn, owner: Account, streams: list[Stream]) -> None:
    browser = sign_in(owner)
    page = send(browser, streams, retention_days=90)
    Stream.objects.filter(pk=streams[0].pk).update(retention_days=30)
    again = send(browser, streams, shown=digest_of(page), retention_days=90)
    assert "have changed since you saw this" in again
    assert sorted(Stream.objects.values_list("retention_days", flat=True)) == [30, 365, 365]
    assert "3 streams changed." in send(browser, streams, shown=digest_of(again), retention_days=90)


def test_hours_and_tags_can_be_taken_away(sign_in: SignIn, owner: Account, streams: list[Stream]) -> None:
    browser = sign_in(owner)
    for wanted in (
        {"hours_choice": "set", "hours": "mo 09:00-10:00", "add_tags": "a, b"},
        {"hours_choice": "none", "remove_tags": "a, unknown"},
    ):
        send(browser, streams, shown=digest_of(send(browser, streams, **wanted)), **wanted)
    assert set(Stream.objects.values_list("hours", flat=True)) == {""}
    assert list(Tag.objects.values_list("name", flat=True)) == ["b"], "a tag that no stream has is forgotten"


def test_no_change_leaves_nothing_to_confirm(sign_in: SignIn, owner: Account, streams: list[Stream]) -> None:
    page = send(sign_in(owner), streams, retention_days=365)
    assert "Nothing: all of these streams are so already" in page
    assert 'name="shown"' not in page
    page = send(sign_in(owner), streams, hours_choice="set")
    assert "Enter the opening hours." in page


def test_only_streams_that_one_manages_are_changed(
    sign_in: SignIn, owner: Account, viewer: Account, stranger: Account, streams: list[Stream]
) -> None:
    share_stream(streams[0], viewer)
    share_stream(streams[0], stranger, MemberRole.ANALYST)
    for account in (viewer, stranger):
        answer = sign_in(account).post(CHANGE, {"streams": str(streams[0].pk), "retention_days": 1})
        assert answer.status_code == 404
        assert sign_in(account).get(f"{CHANGE}?stream={streams[0].pk}").status_code == 404
    assert set(Stream.objects.values_list("retention_days", flat=True)) == {365}


def test_a_site_of_another_organisation_is_not_taken(
    sign_in: SignIn, owner: Account, stranger: Account, streams: list[Stream]
) -> None:
    theirs = Site.objects.create(organisation=organisation_of(stranger), name="Theirs")
    page = send(sign_in(owner), streams, site=str(theirs.pk))
    assert "Select a valid choice" in page


def test_streams_of_two_organisations_are_not_changed_together(
    sign_in: SignIn, owner: Account, stranger: Account, streams: list[Stream]
) -> None:
    theirs = create_stream("Theirs", owner=stranger, kind="enterprise").stream
    share_stream(theirs, owner, MemberRole.MANAGER)
    assert "belong to several organisations" in send(sign_in(owner), [*streams, theirs], retention_days=90)


def test_all_that_a_list_has_found_can_be_changed(sign_in: SignIn, owner: Account, streams: list[Stream]) -> None:
    page = sign_in(owner).get(f"{CHANGE}?found=1&q=t").content.decode()
    assert "<h1>Change 2 streams</h1>" in page
    assert f'value="{streams[2].pk},{streams[1].pk}"' in page
    assert "No stream is selected." in sign_in(owner).get(CHANGE).content.decode()


def test_too_many_streams_are_not_changed_at_once(
    sign_in: SignIn, owner: Account, streams: list[Stream], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("onlooker.console.streams.bulk_page.AT_MOST", 2)
    page = send(sign_in(owner), streams, retention_days=90)
    assert "At most 2 streams can be changed at once." in page


def test_tags_are_names_of_bounded_length_and_number(owner: Account, streams: list[Stream]) -> None:
    assert parse_tags(" a,b ,, a ") == ("a", "b")
    with pytest.raises(ValueError, match="at most 50"):
        parse_tags("x" * 51)
    many = tuple(f"tag {number}" for number in range(bulk_changes.TAGS_AT_MOST + 1))
    with pytest.raises(RefusedError, match="at most 20 tags"):
        plan_changes(streams, BulkChange(added_tags=many))


def test_names_are_text_and_not_markup_in_a_preview(sign_in: SignIn, owner: Account) -> None:
    stream = create_stream("<b>bold</b>", owner=owner, kind="enterprise").stream
    page = send(sign_in(owner), [stream], add_tags="<i>x</i>")
    assert "<b>bold" not in page
    assert "<i>x" not in page
