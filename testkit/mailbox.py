"""A real mail server on this machine that keeps what it receives; needs the development package aiosmtpd."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default as mail_policy

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from testkit.ports import free_ports


class Mailbox:
    """Received mails, oldest first."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.mails: list[EmailMessage] = []

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        content = envelope.original_content
        assert content is not None
        mail = message_from_bytes(content, policy=mail_policy)
        assert isinstance(mail, EmailMessage)
        self.mails.append(mail)
        return "250 OK"

    def to(self, address: str) -> list[EmailMessage]:
        return [mail for mail in self.mails if address in str(mail["To"])]

    def await_link(self, address: str, pattern: str, *, limit_s: float = 20) -> str:
        """The newest link to match in a mail to this address; waits for it."""
        give_up_at = time.monotonic() + limit_s
        while True:
            for mail in reversed(self.to(address)):
                if found := re.search(pattern, text_of(mail)):
                    return found[0]
            if time.monotonic() > give_up_at:
                raise TimeoutError(f"No mail to {address} has {pattern}: {[mail['Subject'] for mail in self.mails]}")
            time.sleep(0.05)


def text_of(mail: EmailMessage) -> str:
    body = mail.get_body(("plain",))
    return str(body.get_content()) if body else ""


@contextmanager
def running_mail_server() -> Iterator[Mailbox]:
    box = Mailbox(free_ports(1)[0])
    controller = Controller(box, hostname="127.0.0.1", port=box.port)
    controller.start()
    try:
        yield box
    finally:
        controller.stop()
