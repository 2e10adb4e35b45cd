"""Reading and writing the key-value buckets."""

from dataclasses import dataclass

import msgspec

from onlooker.bus.connection import (
    ANSWER_LIMIT_S,
    EXPECTED_REVISION,
    WRONG_REVISION,
    Bus,
    BusError,
    NotKept,
    publish_kept,
)
from onlooker.bus.subjects import shard_of


@dataclass(frozen=True)
class Entry:
    """A value and the revision that a compare-and-set must name."""

    value: bytes
    revision: int


@dataclass(frozen=True)
class PastEntry:
    """A value that was once written, whether or not it is still the latest of its key."""

    key: str
    value: bytes


class WrongRevision(Exception):
    """Another process has written since the given revision."""


_DELETE = {"KV-Operation": "DEL"}
_NOT_FOUND = 404


@dataclass(frozen=True)
class BusRecord:
    """A message that JetStream keeps."""

    subject: str
    revision: int
    value: bytes
    is_removed: bool


class _LeadersRecord(msgspec.Struct):
    subject: str
    seq: int
    data: bytes = b""
    hdrs: bytes = b""


class _LeadersError(msgspec.Struct):
    code: int
    description: str = ""


class _LeadersAnswer(msgspec.Struct):
    message: _LeadersRecord | None = None
    error: _LeadersError | None = None


_decode_leaders_answer = msgspec.json.Decoder(_LeadersAnswer).decode
_REMOVALS = ("KV-Operation", "Nats-Marker-Reason")


async def read_last(bus: Bus, stream: str, subject: str, *, from_leader: bool) -> BusRecord | None:
    """The last record of a subject. Any replica answers at once; only the leader knows what was written just now."""
    if from_leader:
        return await _ask_leader(bus, stream, {"last_by_subj": subject})
    return await _ask_any(bus, f"$JS.API.DIRECT.GET.{stream}.{subject}")


async def read_at(bus: Bus, stream: str, revision: int, *, from_leader: bool) -> BusRecord | None:
    """The record that was written at a revision, as long as the stream keeps it."""
    question: dict[str, str | int] = {"seq": revision}
    if from_leader:
        return await _ask_leader(bus, stream, question)
    return await _ask_any(bus, f"$JS.API.DIRECT.GET.{stream}", msgspec.json.encode(question))


async def _ask_any(bus: Bus, subject: str, question: bytes = b"") -> BusRecord | None:
    found = await bus.ask(subject, question, timeout_s=ANSWER_LIMIT_S)
    headers = found.headers or {}
    if "Status" in headers:
        return None
    is_removed = any(name in headers for name in _REMOVALS)
    return BusRecord(headers["Nats-Subject"], int(headers["Nats-Sequence"]), found.data, is_removed)


async def _ask_leader(bus: Bus, stream: str, question: dict[str, str | int]) -> BusRecord | None:
    subject = f"$JS.API.STREAM.MSG.GET.{stream}"
    found = await bus.ask(subject, msgspec.json.encode(question), timeout_s=ANSWER_LIMIT_S)
    answer = _decode_leaders_answer(found.data)
    if answer.message is None:
        if answer.error and answer.error.code == _NOT_FOUND:
            return None
        raise BusError(f"{subject}: {answer.error.description if answer.error else 'no answer'}")
    record = answer.message
    is_removed = any(name.encode() in record.hdrs for name in _REMOVALS)
    return BusRecord(record.subject, record.seq, record.data, is_removed)


class Bucket:
    """One kind of key-value bucket, spread over shards, through the subjects that NATS documents for them."""

    def __init__(self, bus: Bus, name: str, *, shards: int, from_leader: bool = False) -> None:
        """With several replicas, records must be read from their leader: others may lag."""
        self._bus = bus
        self._name = name
        self._shards = shards
        self._from_leader = from_leader

    def _subject(self, key: str) -> str:
        return f"$KV.{shard_of(self._name, key, self._shards)}.{key}"

    async def get(self, key: str) -> Entry | None:
        """The value, or None. A removed entry has an empty value and a revision."""
        stream = f"KV_{shard_of(self._name, key, self._shards)}"
        found = await read_last(self._bus, stream, self._subject(key), from_leader=self._from_leader)
        return Entry(b"" if found.is_removed else found.value, found.revision) if found else None

    async def get_past(self, shard: int, revision: int) -> PastEntry | None:
        """What was written at a revision, as long as the bucket keeps it."""
        if shard >= self._shards:
            return None
        bucket = f"{self._name}-{shard}"
        found = await read_at(self._bus, f"KV_{bucket}", revision, from_leader=self._from_leader)
        if found is None or found.is_removed:
            return None
        return PastEntry(found.subject.removeprefix(f"$KV.{bucket}."), found.value)

    async def put(self, key: str, value: bytes) -> int:
        return await self._write(key, value, None)

    async def replace(self, key: str, value: bytes, *, revision: int) -> int:
        """Compare-and-set. Raises WrongRevision if another process has written since."""
        return await self._write(key, value, {EXPECTED_REVISION: str(revision)})

    async def remove(self, key: str) -> None:
        await self._write(key, b"", _DELETE)

    async def _write(self, key: str, value: bytes, headers: dict[str, str] | None) -> int:
        try:
            return await publish_kept(self._bus, self._subject(key), value, headers=headers)
        except NotKept as refusal:
            if refusal.code in WRONG_REVISION:
                raise WrongRevision(key) from None
            raise
