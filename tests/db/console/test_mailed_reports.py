"""A report comes once to each recipient, at its hour, with the numbers of its period, whatever happens in between."""

import re
import smtplib
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from email.message import EmailMessage
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.mail import EmailMessage as DjangoMail
from django.http import HttpRequest
from django.test import Client

from dashboard_numbers import ask, cover, seen, write
from memberships import organisation_with, share_stream, site_of
from onlooker.console.accounts.models import Account
from onlooker.console.numbers import read_numbers
from onlooker.console.reports import mails
from onlooker.console.reports.mailed_reports import (
    ReportChoices,
    create_report,
    set_outside,
    unsubscribe,
    unsubscribe_token,
)
from onlooker.console.reports.mails import claim_due_reports, send_due_reports
from onlooker.console.reports.models import MailedReport, ReportMail, ReportRecipient
from onlooker.console.reports.saved_views import Subject
from onlooker.database import Pool
from onlooker.streams.administration import create_stream, remove_stream
from onlooker.streams.models import Membership, Organisation, Stream
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DUE = datetime(2026, 11, 9, 6, tzinfo=UTC)  # Monday, 07:00 in Paris
MONDAY = datetime(2026, 11, 1, 23, tzinfo=UTC)  # midnight in Paris, a week before
OUTSIDE = "landlord@example.com"


@pytest.fixture
def stream(owner: Account) -> Stream:
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 30 * DAY, retention_days=3650)
    made.refresh_from_db()
    cover(made, MONDAY - 7 * DAY, MONDAY + 7 * DAY)
    write(*(seen(made, MONDAY + n * 5 * HOUR, looks=n % 2 == 0) for n in range(14)))
    return made


def plan(stream: Stream, account: Account, *outside: str, due_at: datetime = DUE, **chosen: Any) -> MailedReport:
    """A report that is due at a moment."""
    if outside:
        set_outside(organisation_with(stream), is_allowed=True)
    subject = chosen.pop("subject", Subject(organisation_with(stream), stream=stream))
    given = {"name": "Weekly", "weekday": 0, "hour": 7, "period": "last-week", "members": [account.pk]} | chosen
    report = create_report(subject, ReportChoices(**given, outside=outside), by=account)
    MailedReport.objects.filter(pk=report.pk).update(due_at=due_at)
    return report


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    body = mail.get_body((kind,))
    assert body
    return str(body.get_content())


def test_it_comes_once_with_the_numbers_of_its_week(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner)
    assert send_due_reports(DUE - timedelta(minutes=1)) == 0
    assert send_due_reports(DUE) == 1
    for later in (timedelta(minutes=1), HOUR, 23 * HOUR):
        assert send_due_reports(DUE + later) == 0
    (mail,) = mailbox.to(owner.email)
    assert mail["Subject"] == "Weekly: Mon 2 Nov 2026 to Sun 8 Nov 2026"
    told = ask(stream, "2026-11-02T00:00+01:00", "2026-11-09T00:00+01:00")["global"]
    assert told["passing_by"]["value"] == 14
    for kind in ("plain", "html"):
        text = text_of(mail, kind)
        plain = " ".join(re.sub(r"<[^>]+>", " ", text).split())
        assert re.search(r"Passing by:? 14", plain)
        assert re.search(r"Interested:? 7", plain)
        assert "The camera watched all the time." in plain
        assert f"/streams/{stream.client_id}/dashboard/?from=2026-11-02&" in text.replace("&amp;", "&")
    assert "List-Unsubscribe" not in mail
    assert MailedReport.objects.get().due_at == DUE + 7 * DAY


def test_each_recipient_reads_it_in_their_language(
    stream: Stream, owner: Account, viewer: Account, mailbox: Mailbox
) -> None:
    """Their own, else that of the report."""
    share_stream(stream, viewer)
    Account.objects.filter(pk=owner.pk).update(language="de")
    everything = Subject(organisation_with(stream))
    plan(stream, owner, OUTSIDE, members=[owner.pk, viewer.pk], language="es", subject=everything)
    assert send_due_reports(DUE) == 3
    assert "8. Nov" in mailbox.to(owner.email)[0]["Subject"]
    for address in (viewer.email, OUTSIDE):
        assert "dom 8 nov 2026" in mailbox.to(address)[0]["Subject"]


def test_a_month_that_a_change_of_clocks_cuts_is_whole(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner, due_at=datetime(2026, 11, 1, 6, tzinfo=UTC), weekday=None, period="last-month")
    assert send_due_reports(datetime(2026, 11, 1, 6, tzinfo=UTC)) == 1
    assert mailbox.mails[0]["Subject"] == "Weekly: Thu 1 Oct 2026 to Sat 31 Oct 2026"
    assert MailedReport.objects.get().due_at == datetime(2026, 12, 1, 6, tzinfo=UTC)


def test_one_that_was_missed_for_less_than_a_day_comes_late_and_unchanged(
    stream: Stream, owner: Account, mailbox: Mailbox
) -> None:
    """Missed on Sunday evening: on Monday "last week" would be another."""
    plan(stream, owner, due_at=datetime(2026, 11, 8, 20, tzinfo=UTC), weekday=6, hour=21)
    assert send_due_reports(datetime(2026, 11, 9, 19, 59, tzinfo=UTC)) == 1
    assert mailbox.mails[0]["Subject"] == "Weekly: Mon 26 Oct 2026 to Sun 1 Nov 2026"


def test_one_that_was_missed_for_longer_is_left_out(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner)
    assert send_due_reports(DUE + DAY) == 0
    assert MailedReport.objects.get().due_at == DUE + 7 * DAY
    assert send_due_reports(DUE + 21 * DAY + HOUR) == 1, "of several that were missed, the one of today"
    assert MailedReport.objects.get().due_at == DUE + 28 * DAY
    assert len(mailbox.mails) == 1


def test_a_process_that_dies_before_it_sends_loses_none(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner, OUTSIDE)
    claim_due_reports(DUE)  # and it dies
    assert send_due_reports(DUE + timedelta(minutes=1)) == 2
    assert send_due_reports(DUE + HOUR) == 0
    assert len(mailbox.mails) == 2


def test_a_round_that_is_over_takes_no_more_mails(
    stream: Stream, owner: Account, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is taken waits ten minutes for its next try."""
    plan(stream, owner)
    with monkeypatch.context() as patched:
        patched.setattr(mails, "ROUND_LIMIT_S", 0.0)
        assert send_due_reports(DUE) == 0
    assert send_due_reports(DUE + timedelta(minutes=1)) == 1
    assert ReportMail.objects.get().tries == 1


def test_a_process_that_dies_while_it_sends_sends_none_twice(
    stream: Stream, owner: Account, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(stream, owner, OUTSIDE)

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(mails, "deliver_mail", die)
        with pytest.raises(KeyboardInterrupt):
            send_due_reports(DUE)
    assert send_due_reports(DUE + timedelta(minutes=1)) == 1, "the other one; the first may be on its way"
    assert send_due_reports(DUE + mails.LEASE) == 1
    assert send_due_reports(DUE + HOUR) == 0
    assert sorted(str(mail["To"]) for mail in mailbox.mails) == [OUTSIDE, owner.email]


def test_one_that_dies_after_the_server_took_it_repeats_it_with_the_same_id(
    stream: Stream, owner: Account, mailbox: Mailbox
) -> None:
    plan(stream, owner)
    send_due_reports(DUE)
    ReportMail.objects.update(sent_at=None)  # as if it had died before it noted it
    send_due_reports(DUE + mails.LEASE)
    first, second = mailbox.mails
    assert first["Message-ID"] == second["Message-ID"]


def test_two_consoles_at_once_send_one(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner)
    claim_due_reports(DUE)
    MailedReport.objects.update(due_at=DUE)  # the other one read it before
    assert send_due_reports(DUE) == 1
    assert ReportMail.objects.count() == 1


def test_a_mail_server_that_is_down_is_tried_again(
    stream: Stream, owner: Account, mailbox: Mailbox, settings: Any
) -> None:
    plan(stream, owner)
    port, settings.EMAIL_PORT = settings.EMAIL_PORT, 9
    with pytest.raises(OSError):
        send_due_reports(DUE)
    settings.EMAIL_PORT = port
    assert send_due_reports(DUE + timedelta(minutes=2)) == 1


def test_members_get_what_pages_would_show_them(
    stream: Stream, owner: Account, viewer: Account, stranger: Account, mailbox: Mailbox
) -> None:
    share_stream(stream, viewer)
    share_stream(create_stream("Back door", owner=owner, kind="developer").stream, stranger)
    plan(stream, owner, members=[owner.pk, viewer.pk, stranger.pk])
    assert send_due_reports(DUE) == 2
    assert not mailbox.to(stranger.email), "a viewer of another site"
    Membership.objects.filter(account=viewer).delete()
    assert send_due_reports(DUE + 7 * DAY) == 1
    Organisation.objects.update(requires_second_factor=True)
    assert send_due_reports(DUE + 14 * DAY) == 0
    Organisation.objects.update(requires_second_factor=False)
    EmailAddress.objects.update(verified=False)
    assert send_due_reports(DUE + 21 * DAY) == 0


def test_a_viewer_of_a_part_gets_no_sum_of_the_whole(
    stream: Stream, owner: Account, viewer: Account, mailbox: Mailbox
) -> None:
    create_stream("Back door", owner=owner, kind="developer")
    share_stream(stream, viewer)
    organisation, both = organisation_with(stream), [owner.pk, viewer.pk]
    plan(stream, owner, members=both, subject=Subject(organisation))
    plan(stream, owner, members=both, subject=Subject(organisation, site=site_of(stream)))
    assert send_due_reports(DUE) == 3
    assert len(mailbox.to(viewer.email)) == 1
    assert "Front door" in text_of(mailbox.to(viewer.email)[0]), "the site is called so"
    assert "Passing by: 14" in text_of(mailbox.to(viewer.email)[0])


def stop_by_owners_choice(stream: Stream) -> None:
    set_outside(organisation_with(stream), is_allowed=False)


def stop_by_unsubscribing(stream: Stream) -> None:
    unsubscribe(ReportRecipient.objects.get())


def stop_with_the_stream(stream: Stream) -> None:
    remove_stream(stream)


def stop_with_the_owners(stream: Stream) -> None:
    Account.objects.update(is_active=False)


def stop_with_the_report(stream: Stream) -> None:
    MailedReport.objects.get().delete()


@pytest.mark.parametrize("is_claimed", [False, True])
@pytest.mark.parametrize(
    "stop",
    [stop_by_owners_choice, stop_by_unsubscribing, stop_with_the_stream, stop_with_the_owners, stop_with_the_report],
)
def test_nothing_goes_outside_any_more(
    stream: Stream, owner: Account, mailbox: Mailbox, stop: Callable[[Stream], None], is_claimed: bool
) -> None:
    plan(stream, owner, OUTSIDE, members=[])
    if is_claimed:
        claim_due_reports(DUE)
    stop(stream)
    assert send_due_reports(DUE) == 0
    assert not mailbox.mails


def test_an_address_outside_unsubscribes_with_one_click(
    stream: Stream, owner: Account, mailbox: Mailbox, sign_in: SignIn
) -> None:
    plan(stream, owner, OUTSIDE)
    send_due_reports(DUE)
    (mail,) = mailbox.to(OUTSIDE)
    link = re.fullmatch(r"<https://console\.example\.org(/unsubscribe/\S+/)>", str(mail["List-Unsubscribe"]).strip())
    assert link
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    for kind in ("plain", "html"):
        assert link[1] in text_of(mail, kind)
        for secret in (owner.email, "/streams/", "/organisations/", str(stream.client_id)):
            assert secret not in text_of(mail, kind)
    browser = sign_in(None)
    opened = browser.get(link[1])
    assert "Unsubscribe" in opened.content.decode()
    assert not opened.cookies
    assert ReportRecipient.objects.get(email=OUTSIDE).stopped_at is None, "programs open links to look for viruses"
    posted = browser.post(link[1], {"List-Unsubscribe": "One-Click"}, headers={"origin": "https://mail.example"})
    assert posted.status_code == 200
    stopped_at = ReportRecipient.objects.get(email=OUTSIDE).stopped_at
    assert stopped_at is not None
    browser.post(link[1])
    assert ReportRecipient.objects.get(email=OUTSIDE).stopped_at == stopped_at
    assert "any more" in browser.get(link[1]).content.decode()
    assert send_due_reports(DUE + 7 * DAY) == 1
    assert len(mailbox.to(OUTSIDE)) == 1


def test_nobody_unsubscribes_others(stream: Stream, owner: Account, sign_in: SignIn) -> None:
    plan(stream, owner, OUTSIDE)
    member, outside = ReportRecipient.objects.order_by("email")
    token = unsubscribe_token(outside)
    for wrong in ("x", "1~x", token[:-1], token.replace(str(outside.pk), str(member.pk), 1), unsubscribe_token(member)):
        assert sign_in(None).post(f"/unsubscribe/{wrong}/").status_code == 404, wrong
    assert not ReportRecipient.objects.exclude(stopped_at=None).exists()


def test_a_group_names_no_stream(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    site = site_of(stream)
    site.name = "North gate"
    site.save()
    plan(stream, owner, OUTSIDE, members=[], subject=Subject(organisation_with(stream), site=site))
    assert send_due_reports(DUE) == 1
    (mail,) = mailbox.mails
    assert mail["Subject"] == "Weekly: Mon 2 Nov 2026 to Sun 8 Nov 2026"
    assert "North gate" in text_of(mail)
    assert "Passing by: 14" in text_of(mail)
    assert "Front door" not in text_of(mail)


def test_without_a_mail_server_nothing_is_claimed(stream: Stream, owner: Account, settings: Any) -> None:
    import msgspec

    plan(stream, owner)
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, email_url="")
    assert send_due_reports(DUE) == 0
    assert not ReportMail.objects.exists()


def test_past_mails_are_forgotten(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner)
    send_due_reports(DUE)
    assert ReportMail.objects.get().due_at.date() == date(2026, 11, 9)
    send_due_reports(DUE + 35 * DAY)
    assert [mail.due_at for mail in ReportMail.objects.all()] == [DUE + 35 * DAY]


def test_a_statement_of_a_report_has_the_time_of_one_of_a_page() -> None:
    """All chores wait for it."""

    async def read_limit(pool: Pool) -> Any:
        async with pool.connection() as connection:
            return await (await connection.execute("SHOW statement_timeout")).fetchone()

    assert read_numbers(HttpRequest(), read_limit) == {"statement_timeout": "10s"}


def test_it_comes_each_week_at_its_hour_when_clocks_go_back(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    """Sunday 25 October 2026, 02:00 in Paris, which clocks show twice."""
    plan(stream, owner, due_at=datetime(2026, 10, 18, 0, tzinfo=UTC), weekday=6, hour=2)
    hours = (
        datetime(2026, 10, 17, 22, tzinfo=UTC) + timedelta(days=day, hours=hour)
        for day in range(16)
        for hour in range(5)
    )
    sent = [moment for moment in hours if send_due_reports(moment)]
    assert sent == [datetime(2026, 10, day, 0, tzinfo=UTC) for day in (18, 25)] + [datetime(2026, 11, 1, 1, tzinfo=UTC)]
    assert [mail["Subject"].partition(": ")[2] for mail in mailbox.mails] == [
        "Mon 5 Oct 2026 to Sun 11 Oct 2026",
        "Mon 12 Oct 2026 to Sun 18 Oct 2026",
        "Mon 19 Oct 2026 to Sun 25 Oct 2026",
    ]


def test_a_refused_address_holds_up_no_other(
    stream: Stream, owner: Account, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(stream, owner, OUTSIDE)
    deliver = mails.deliver_mail

    def refuse(mail: DjangoMail, *, kind: str) -> None:
        if mail.to == [owner.email]:
            raise smtplib.SMTPRecipientsRefused({owner.email: (550, b"no")})
        deliver(mail, kind=kind)

    monkeypatch.setattr(mails, "deliver_mail", refuse)
    assert send_due_reports(DUE) == 1
    tries = sum(send_due_reports(DUE + timedelta(minutes=number)) for number in range(1, 24 * 60, 60))
    assert tries == 0
    assert ReportMail.objects.get(sent_at=None).tries < 20
    assert [str(mail["To"]) for mail in mailbox.mails] == [OUTSIDE]
