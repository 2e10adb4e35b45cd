"""A report's PDF has the numbers of the mail and the page, as text, in the reader's language; its size is bounded."""

import re
import subprocess
import time
import zlib
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage

import pytest
from django.http import HttpRequest
from django.test import Client
from django.utils import translation
from test_mailed_reports import DAY, DUE, HOUR, MONDAY, OUTSIDE, plan, text_of

from dashboard_numbers import cover, seen, write
from memberships import organisation_with
from onlooker.audit.models import AuditEntry
from onlooker.console.accounts.models import Account
from onlooker.console.dashboard.period import parse_period
from onlooker.console.reports.contents import present_stream, read_stream_report
from onlooker.console.reports.mails import LEASE, send_due_reports
from onlooker.console.reports.models import ReportMail
from onlooker.console.reports.pdf.contents import Bar, BarChart, PrintedReport, WeekTable, describe_stream
from onlooker.console.reports.pdf.pages import draw_pdf
from onlooker.console.reports.saved_views import Subject
from onlooker.streams.administration import create_stream
from onlooker.streams.models import OpeningHours, Stream
from testkit.mailbox import Mailbox

pytest_plugins = ["pages"]
pytestmark = pytest.mark.django_db(transaction=True)

SignIn = Callable[[Account | None], Client]


@pytest.fixture
def stream(owner: Account) -> Stream:
    """Watched for two weeks except on one Thursday, with a few people a day."""
    made = create_stream("Front door", owner=owner, kind="enterprise", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 30 * DAY, retention_days=3650)
    made.refresh_from_db()
    cover(made, MONDAY - 7 * DAY, MONDAY + 3 * DAY)
    cover(made, MONDAY + 4 * DAY, MONDAY + 7 * DAY)
    days = [day for day in range(-7, 7) if day != 3]
    write(*(seen(made, MONDAY + day * DAY + n * HOUR, looks=n % 3 == 0) for day in days for n in range(6 + day % 5)))
    return made


def attached(mail: EmailMessage) -> bytes:
    (part,) = mail.iter_attachments()
    assert part.get_content_type() == "application/pdf"
    content = part.get_content()
    assert isinstance(content, bytes)
    return content


def read_pdf(content: bytes, *options: str) -> str:
    """Its text in one line, as a program for reading PDF finds it."""
    done = subprocess.run(["pdftotext", *options, "-", "-"], input=content, capture_output=True, check=True, timeout=60)
    assert not done.stderr
    return " ".join(done.stdout.decode().split())


def describe_pdf(content: bytes) -> dict[str, str]:
    done = subprocess.run(["pdfinfo", "-"], input=content, capture_output=True, check=True, timeout=60)
    return {
        name: value.strip() for name, _, value in (line.partition(":") for line in done.stdout.decode().splitlines())
    }


def printed(stream: Stream, language: str = "en-gb") -> PrintedReport:
    """Of the week, read from the database."""
    with translation.override(language):
        period = parse_period(
            {"from": "2026-11-02", "to": "2026-11-08"}, zone=Subject(stream.organisation, stream).zone, now=DUE
        )
        report = read_stream_report(HttpRequest(), stream, period, now=DUE)
        return describe_stream(present_stream(report, stream, now=DUE), stream.name)


def unpack(content: bytes) -> bytes:
    """All that is compressed in it."""
    streams = re.findall(rb"/FlateDecode.*?stream\n(.*?)\nendstream", content, re.DOTALL)
    return b"".join(zlib.decompress(stream) for stream in streams)


def test_a_mail_that_is_sent_again_has_the_same_file(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner)
    send_due_reports(DUE)
    ReportMail.objects.update(sent_at=None)  # as if the process had died before it noted it
    send_due_reports(DUE + LEASE)
    first, second = mailbox.mails
    assert attached(first) == attached(second)


def test_a_group_has_its_days_and_names_no_stream(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    plan(stream, owner, OUTSIDE, members=[], subject=Subject(organisation_with(stream)))
    assert send_due_reports(DUE) == 1
    (mail,) = mailbox.mails
    text = read_pdf(attached(mail))
    for words in ("All streams", "Passing by by day", "Several cameras together", "by whole days"):
        assert words in text
    assert "Front door" not in text
    assert "streams/" not in text


def test_the_mail_itself_shows_each_day(stream: Stream, owner: Account, mailbox: Mailbox) -> None:
    """For programs that show neither pictures nor attachments."""
    plan(stream, owner)
    send_due_reports(DUE)
    for kind in ("plain", "html"):
        plain = " ".join(re.sub(r"<[^>]+>", " ", text_of(mailbox.mails[0], kind)).split())
        assert re.search(r"Mon 2 Nov:? 6\b", plain)
        assert re.search(r"Thu 5 Nov:? offline", plain)


def test_members_download_what_the_dashboard_shows(sign_in: SignIn, stream: Stream, owner: Account) -> None:
    browser, path = sign_in(owner), f"/streams/{stream.client_id}/dashboard/"
    query = "from=2026-11-02&to=2026-11-08"
    answer = browser.get(f"{path}report.pdf?{query}")
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/pdf"
    name = "onlooker-front-door-2026-11-02-to-2026-11-08.pdf"
    assert answer["Content-Disposition"] == f'attachment; filename="{name}"'
    page = browser.get(f"{path}?{query}").content.decode()
    assert f'href="{path}report.pdf?from=2026-11-02T00%3A00%3A00%2B01%3A00&amp;to=' in page
    text = read_pdf(answer.content)
    for shown in re.findall(r'<dd class="value"[^>]*>([^<]+)', page):
        assert shown.strip() in text
    watched = re.search(r'<p class="watched">([^<]+)', page)
    assert watched
    assert watched[1] in text
    assert AuditEntry.objects.filter(stream_id=stream.pk, action="numbers.exported").count() == 1
    assert browser.get(f"{path}report.pdf?period=8d").status_code == 400


@pytest.mark.parametrize(("hours", "said"), [("mo-su 00:00-04:00", "Opening hours only"), ("", "has no opening hours")])
def test_it_is_of_opening_hours_where_the_page_is(
    sign_in: SignIn, stream: Stream, owner: Account, hours: str, said: str
) -> None:
    OpeningHours.objects.create(stream=stream, since_at=MONDAY - 30 * DAY, hours=hours, time_zone="Europe/Paris")
    browser, path = sign_in(owner), f"/streams/{stream.client_id}/dashboard/"
    query = "from=2026-11-02&to=2026-11-04&hours=open"
    page = browser.get(f"{path}?{query}").content.decode()
    answer = browser.get(f"{path}report.pdf?{query}")
    assert "-opening-hours-2026-11-02" in answer["Content-Disposition"]
    text = read_pdf(answer.content)
    (people,) = re.findall(r'<dd class="value"[^>]*>([^<]+)', page)[:1]
    assert int(people) == (12 if hours else 6 + 7 + 8)
    assert re.search(rf"Passing by {people.strip()}\b", read_pdf(answer.content, "-layout"))
    assert said in text
    assert browser.get(f"{path}report.pdf?{query}ish").status_code == 400


def test_groups_of_people_hold(sign_in: SignIn, owner: Account) -> None:
    """What is not told on the page is not told in the file."""
    made = create_stream("Quiet corner", owner=owner, kind="enterprise", time_zone="Europe/Paris", groups_of=5).stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY - 30 * DAY, retention_days=3650)
    cover(made, MONDAY, MONDAY + 7 * DAY)
    write(*(seen(made, MONDAY + n * HOUR, looks=True) for n in range(12)))
    made.refresh_from_db()
    text = read_pdf(draw_pdf(printed(made)), "-layout")
    assert "In groups of at least 5: 12 people are not told yet." in text
    assert re.search(r"Stop time \N{EN DASH} in groups of at least 5", text)


def test_a_stream_that_saw_nothing_says_so(owner: Account) -> None:
    made = create_stream("Back door", owner=owner, kind="developer", time_zone="Europe/Paris").stream
    Stream.objects.filter(pk=made.pk).update(created_at=MONDAY)
    made.refresh_from_db()
    assert "No frame has arrived yet." in read_pdf(draw_pdf(printed(made)))


def test_the_same_report_is_the_same_file(stream: Stream) -> None:
    assert draw_pdf(printed(stream)) == draw_pdf(printed(stream))


@pytest.mark.parametrize("name", ["Kraków Αθήνα Москва Việt Nam", "Größe 50 % \\ (a) <b>"])
def test_names_in_latin_greek_and_cyrillic_letters_are_drawn(stream: Stream, name: str) -> None:
    text = read_pdf(draw_pdf(replace(printed(stream), title=name)))
    assert name in text
    assert "no font" not in text


@pytest.mark.parametrize("name", ["東京", "مقهى", "Café 🍰", "กรุงเทพ"])
def test_letters_without_a_font_are_marked_and_can_be_copied(stream: Stream, name: str) -> None:
    content = draw_pdf(replace(printed(stream), title=name))
    text = read_pdf(content)
    assert "Letters that this file has no font for" in text
    assert describe_pdf(content)["Title"].startswith(name)
    assert all(letter in text for letter in name.replace(" ", ""))


def test_a_name_of_any_length_fits(stream: Stream) -> None:
    for name in ("W" * 100, "long name " * 10, " ", "\u200b\n\t"):
        content = draw_pdf(replace(printed(stream), title=name))
        assert int(describe_pdf(content)["Pages"]) <= 3


def test_the_largest_report_is_bounded_in_time_and_size(stream: Stream) -> None:
    """Five years of days, which nobody mails and anybody can ask for."""
    start = datetime(2026, 1, 1, tzinfo=UTC)
    labels = [f"{start + timedelta(days=number):%a %d %b %Y}" for number in range(5 * 366)]
    bars = tuple(Bar(label, number % 997 * 1000, number % 500, (number % 3) / 3) for number, label in enumerate(labels))
    week = WeekTable(("Mon",) * 7, ((12.3,) * 24,) * 7, frozenset())
    large = replace(printed(stream), chart=BarChart("People by day", bars, ("Passing by", "Interested")), week=week)
    began = time.process_time()
    content = draw_pdf(replace(large, sentences=("A sentence of some words. " * 20,) * 20))
    assert time.process_time() - began < 5
    assert len(content) < 300_000
    assert int(describe_pdf(content)["Pages"]) <= 6


def test_it_comes_with_the_mail_and_has_all_of_its_numbers_in_its_language(
    stream: Stream, owner: Account, mailbox: Mailbox
) -> None:
    for language in ("en-gb", "fr", "de", "es"):
        mailbox.mails.clear()
        ReportMail.objects.all().delete()
        Account.objects.filter(pk=owner.pk).update(language=language)
        plan(stream, owner, name=f"Weekly {language}")
        assert send_due_reports(DUE) == 1
        (mail,) = mailbox.to(owner.email)
        (part,) = mail.iter_attachments()
        assert part.get_filename() == "onlooker-front-door-2026-11-02-to-2026-11-08.pdf"
        content = attached(mail)
        text, said = read_pdf(content), text_of(mail)
        numbers = re.findall(r"\d[\d.,\u00a0\u202f]*\d|\d", said.partition("http")[0])
        assert len(numbers) > 20
        missing = {number for number in numbers if " ".join(number.split()) not in text}
        assert not missing, (language, missing)
        assert " ".join(mail["Subject"].partition(": ")[2].split()) in text
        about = describe_pdf(content)
        assert about["Tagged"] == "yes"
        assert about["Title"].startswith("Front door, ")
        assert f"/Lang ({language})".encode() in unpack(content)
