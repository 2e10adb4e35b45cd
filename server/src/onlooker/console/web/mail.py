"""E-mail from templates: `<name>_subject.txt`, `<name>.txt`, `<name>.html`."""

import smtplib
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.db import connection
from django.template.loader import render_to_string
from django.utils import translation

from onlooker.console.languages.choice import language_of
from onlooker.console.web import counters


class UndeliverableError(OSError):
    """The address can't receive mail."""


SINGLE_MAIL_ERRORS = (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, UndeliverableError)
"""Errors of one mail; others may still be sent."""
CONCURRENT_MAILS = 4
SLOT_WAIT_S = 2.0
_slots = BoundedSemaphore(CONCURRENT_MAILS)


def is_mail_on() -> bool:
    """Whether a mail server is configured; without one no mail is sent."""
    return bool(settings.ONLOOKER.email_url)


def send_mail(
    name: str, *, to: str, context: dict[str, Any], headers: dict[str, str] | None = None, language: str = ""
) -> None:
    """In the language of its recipient, unless told another. Words in `context` must be written in it already.

    Raises OSError (which includes SMTP errors) if the mail server refuses it.
    """
    with translation.override(language or language_of(to)):
        mail = write_mail(name, to=to, context=context, headers=headers)
    deliver_mail(mail, kind=name.rpartition("/")[2])


def write_mail(
    name: str, *, to: str, context: dict[str, Any], headers: dict[str, str] | None = None
) -> EmailMultiAlternatives:
    """In the active language."""
    shared = {"console_url": settings.ONLOOKER.console_url} | context
    subject = " ".join(render_to_string(f"{name}_subject.txt", shared).split())
    text = render_to_string(f"{name}.txt", shared).strip() + "\n"
    mail = EmailMultiAlternatives(subject, text, to=[to], headers=headers)
    content = render_to_string(f"{name}.html", shared)
    mail.attach_alternative(render_to_string("mail.html", {"subject": subject, "content": content}), "text/html")
    return mail


def deliver_mail(mail: EmailMessage, *, kind: str) -> None:
    """Send it and count the outcome; raises OSError, also for an address that can't receive mail."""
    if not connection.in_atomic_block:
        connection.close()  # a mail server may be slow; others need the connection meanwhile
    try:
        _send(mail)
    except (OSError, ValueError) as error:
        counters.mails(kind, "failed").inc()
        raise error if isinstance(error, OSError) else UndeliverableError("This address can't receive mail.") from error
    counters.mails(kind, "sent").inc()


def _send(mail: EmailMessage) -> None:
    """A mail server that hangs must not block the whole console."""
    if not _slots.acquire(timeout=SLOT_WAIT_S):
        raise OSError("Too many mails are waiting for the mail server.")
    try:
        mail.send()
    finally:
        _slots.release()
