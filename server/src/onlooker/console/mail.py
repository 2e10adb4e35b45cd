"""Sending an e-mail made of templates: `<name>_subject.txt`, `<name>.txt`, `<name>.html`."""

import smtplib
from threading import BoundedSemaphore
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.db import connection
from django.template.loader import render_to_string

from onlooker.console import counters


class UnsendableError(OSError):
    """No mail server could take a mail to this address."""


OF_ONE_MAIL = (smtplib.SMTPRecipientsRefused, smtplib.SMTPDataError, UnsendableError)
"""This mail was refused; others may go well."""
MAILS_AT_A_TIME = 4
PLACE_WAIT_S = 2.0
_places = BoundedSemaphore(MAILS_AT_A_TIME)


def is_mail_on() -> bool:
    """Whether anybody has said where mails go; without it they go nowhere."""
    return bool(settings.ONLOOKER.email_url)


def send_mail(name: str, *, to: str, context: dict[str, Any]) -> None:
    """Raises OSError (SMTP's errors are such) where the mail server does not take it."""
    shared = {"console_url": settings.ONLOOKER.console_url} | context
    subject = " ".join(render_to_string(f"{name}_subject.txt", shared).split())
    mail = EmailMultiAlternatives(subject, render_to_string(f"{name}.txt", shared).strip() + "\n", to=[to])
    mail.attach_alternative(render_to_string(f"{name}.html", shared), "text/html")
    deliver(mail, kind=name.rpartition("/")[2])


def deliver(mail: EmailMessage, *, kind: str) -> None:
    """Send it and count what came of it; raises OSError, also for an address that no mail server could take."""
    if not connection.in_atomic_block:
        connection.close()  # a mail server may take its time; others need the connection meanwhile
    try:
        _send(mail)
    except (OSError, ValueError) as error:
        counters.mails(kind, "failed").inc()
        raise error if isinstance(error, OSError) else UnsendableError("No mail can be sent there.") from error
    counters.mails(kind, "sent").inc()


def _send(mail: EmailMessage) -> None:
    """A mail server that hangs must not keep all of the console waiting."""
    if not _places.acquire(timeout=PLACE_WAIT_S):
        raise OSError("Too many mails wait for the mail server.")
    try:
        mail.send()
    finally:
        _places.release()
