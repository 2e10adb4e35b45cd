"""A process's connection to the bus: questions and their answers, and messages that JetStream keeps."""

import asyncio
import itertools
import logging
import ssl
import time
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as ClientError

from onlooker.bus.roles import inbox_of
from onlooker.logs import fields
from onlooker.monitoring import watch_certificate
from onlooker.settings import Settings, SettingsError, variable_name

log = logging.getLogger(__name__)

ANSWER_LIMIT_S = 2.0
PING_EVERY_S = 2
"""A server that is silent for three times as long is left for another one."""
EXPECTED_REVISION = "Nats-Expected-Last-Subject-Sequence"
"""Header of a compare-and-set; 0: nothing may be there yet."""
WRONG_REVISION = (10071, 10164)
"""Codes of a refusal because another process wrote since."""


class BusError(Exception):
    """The bus could not do what it was asked."""


class BusLost(BusError):
    """The connection was lost; whether the question arrived is unknown."""


class NobodyThere(BusError):
    """Nobody listens on the subject: the question was not taken."""


class NoAnswer(BusError):
    """The question was not answered in time."""


class NotKept(BusError):
    """JetStream refuses the message; `code` says why."""

    def __init__(self, subject: str, description: str, code: int) -> None:
        super().__init__(f"{subject}: {description}")
        self.code = code


@dataclass(frozen=True)
class Question:
    """A question that waits for its answer."""

    answer: asyncio.Future[Msg]
    about: str
    """Whom it was sent to, if that matters."""
    asked_at: float

    def fail(self, error: BusError) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)


class Bus:
    """Asks questions over one inbox. Cheaper than the client's `request`, and fails at once when the bus is lost."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.found_again = asyncio.Event()
        """Set each time that the bus was lost and is back."""
        self._inbox = client.new_inbox()
        self._questions: dict[str, Question] = {}
        self._tokens = itertools.count()

    @property
    def is_connected(self) -> bool:
        return self.client.is_connected

    async def start(self) -> None:
        await self.client.subscribe(f"{self._inbox}.*", cb=self._take_answer)

    async def ask(
        self,
        subject: str,
        payload: bytes = b"",
        *,
        timeout_s: float,
        headers: dict[str, str] | None = None,
        about: str = "",
    ) -> Msg:
        """The answer. Raises NobodyThere, NoAnswer, BusLost, or what `Question.fail` was given."""
        loop = asyncio.get_running_loop()
        token = str(next(self._tokens))
        question = self._questions[token] = Question(loop.create_future(), about, time.monotonic())
        timer = loop.call_later(timeout_s, question.fail, NoAnswer(subject))
        try:
            await self.client.publish(subject, payload, reply=f"{self._inbox}.{token}", headers=headers)
            return await question.answer
        except ClientError as error:
            raise BusLost from error
        finally:
            timer.cancel()
            del self._questions[token]

    async def _take_answer(self, message: Msg) -> None:
        question = self._questions.get(message.subject.rpartition(".")[2])
        if question is None or question.answer.done():
            return
        if not message.data and message.headers and message.headers.get("Status") == "503":
            question.fail(NobodyThere())
        else:
            question.answer.set_result(message)

    def waiting(self) -> Iterable[Question]:
        return list(self._questions.values())

    def fail_all(self) -> None:
        for question in self._questions.values():
            question.fail(BusLost())

    async def publish(self, subject: str, payload: bytes = b"", *, reply: str = "") -> None:
        try:
            await self.client.publish(subject, payload, reply=reply)
        except ClientError as error:
            raise BusLost from error

    async def close(self) -> None:
        await self.client.close()


def bus_addresses(settings: Settings) -> list[str]:
    return [address.strip() for address in settings.nats_url.split(",") if address.strip()]


def tls_of(settings: Settings) -> ssl.SSLContext | None:
    """How the bus's servers are checked, and what this process shows them; None where the bus has no TLS."""
    if not settings.nats_authority_file:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.nats_authority_file)
        if settings.nats_certificate_file:
            context.load_cert_chain(settings.nats_certificate_file, settings.nats_key_file or None)
            watch_certificate("nats_certificate_file", settings.nats_certificate_file)
    except OSError as error:  # also what OpenSSL can't read
        names = ", ".join(map(variable_name, ("nats_authority_file", "nats_certificate_file", "nats_key_file")))
        raise SettingsError(f"The certificates for the bus can't be read ({error}). Check {names}.") from None
    return context


async def connect(settings: Settings, *, name: str) -> Bus:
    """Connect, however long that takes, and reconnect whenever the bus is lost."""
    client = Client()
    bus: Bus | None = None
    refused = asyncio.Event()
    complained = False

    async def lost() -> None:
        if client.is_closed or bus is None:
            return  # we closed it ourselves
        log.warning("bus lost")
        bus.fail_all()

    async def found() -> None:
        log.info("bus found again")
        if bus is not None:
            bus.found_again.set()

    async def note(error: Exception) -> None:
        nonlocal complained
        if "authorization" in str(error).lower():
            refused.set()
        level = logging.DEBUG if bus or complained else logging.WARNING
        complained = True
        log.log(
            level, "no bus yet" if bus is None else "bus error", extra=fields(url=settings.nats_url, error=str(error))
        )

    connecting = asyncio.create_task(
        client.connect(
            bus_addresses(settings),
            tls=tls_of(settings),
            name=name,
            user=settings.nats_user or None,
            password=settings.nats_password or None,
            inbox_prefix=inbox_of(settings.nats_user or name),
            allow_reconnect=True,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0.1,  # type: ignore[arg-type]
            connect_timeout=2,
            dont_randomize=True,  # the first is the nearest, by the setting
            ping_interval=PING_EVERY_S,
            max_outstanding_pings=2,
            pending_size=0,
            skip_subject_validation=True,
            disconnected_cb=lost,
            reconnected_cb=found,
            error_cb=note,
        )
    )
    refusal = asyncio.create_task(refused.wait())
    await asyncio.wait([connecting, refusal], return_when=asyncio.FIRST_COMPLETED)
    refusal.cancel()
    if not connecting.done():
        connecting.cancel()
        raise SettingsError(
            f"The bus at {settings.nats_url} refuses the user {settings.nats_user!r}. "
            "Set ONLOOKER_NATS_USER and ONLOOKER_NATS_PASSWORD. `onlooker up` does so for its own processes."
        )
    await connecting
    bus = Bus(client)
    await bus.start()
    return bus


class _Error(msgspec.Struct):
    err_code: int = 0
    description: str = ""


class _Ack(msgspec.Struct):
    seq: int = 0
    error: _Error | None = None


_decode_ack = msgspec.json.Decoder(_Ack).decode


async def publish_kept(bus: Bus, subject: str, payload: bytes, *, headers: dict[str, str] | None = None) -> int:
    """The message's number, once JetStream has stored it. Raises BusError if that is not certain."""
    answer = await bus.ask(subject, payload, headers=headers, timeout_s=ANSWER_LIMIT_S)
    ack = _decode_ack(answer.data)
    if ack.error is not None:
        raise NotKept(subject, ack.error.description, ack.error.err_code)
    return ack.seq
