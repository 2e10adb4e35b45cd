"""The chain of a log: what each entry's hash covers, and where a chain is broken. Pure."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from onlooker.sentences import Sentence

COLUMNS = ("stream_id", "number", "at", "role", "actor", "action", "detail", "previous_hash", "hash")
"""Of an exported entry, in this order."""


@dataclass(frozen=True)
class LoggedEntry:
    """One entry as it is exported; hashes in hexadecimal, `detail` is JSON as text."""

    stream_id: int
    """Of an organisation's log, the organisation's number, negative."""
    number: int
    at: str
    role: str
    actor: str
    action: str
    detail: str
    previous_hash: str
    hash: str


@dataclass(frozen=True)
class ChainEnds:
    """Which entries there should be, and the hash of the last."""

    first_number: int
    last_number: int
    last_hash: str


@dataclass(frozen=True)
class CheckedChain:
    """What a check found. `fault` is a sentence about the first broken entry; empty if there is none."""

    entries: int
    fault: str = ""
    broken_number: int | None = None
    last_number: int | None = None
    last_hash: str = ""


def moment_text(at: datetime) -> str:
    """As it is hashed and exported."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def hash_entry(entry: LoggedEntry) -> str:
    """SHA-256 of its parts, each with its length, and of the hash before; the database computes the same."""
    given = (
        *(entry.previous_hash, str(entry.stream_id), str(entry.number), entry.at),
        *(entry.role, entry.actor, entry.action, entry.detail),
    )
    parts = [part.encode() for part in given]
    return hashlib.sha256(b",".join(b"%d:%b" % (len(part), part) for part in parts)).hexdigest()


def check_chain(entries: Iterable[LoggedEntry], ends: ChainEnds | None = None) -> CheckedChain:
    """Entries of one stream in order. Without its ends, that entries are missing at the end is not noticed."""
    count, before, fault = 0, None, ""
    for entry in entries:
        fault = _find_fault(entry, before, ends)
        if fault:
            return CheckedChain(count, fault, entry.number)
        count, before = count + 1, entry
    if ends:
        known = (before.number, before.hash) if before else (ends.first_number - 1, ends.last_hash)
        if known != (ends.last_number, ends.last_hash):
            missing = known[0] + 1
            fault = Sentence(
                "Entry {number} is missing: the log ends with {last}.", number=missing, last=ends.last_number
            )
            return CheckedChain(count, fault, missing)
    return CheckedChain(count, "", None, before.number if before else None, before.hash if before else "")


def _find_fault(entry: LoggedEntry, before: LoggedEntry | None, ends: ChainEnds | None) -> str:
    if before is None:
        expected = ends.first_number if ends else entry.number
    elif entry.stream_id != before.stream_id:
        return Sentence("Entry {number} is of another stream or organisation.", number=entry.number)
    else:
        expected = before.number + 1
    if entry.number != expected:
        return Sentence(
            "Entry {number} is missing: entry {other} is in its place.", number=expected, other=entry.number
        )
    if before and entry.previous_hash != before.hash:
        return Sentence(
            "Entry {number} does not follow entry {before}: one of them was replaced.",
            number=entry.number,
            before=before.number,
        )
    if hash_entry(entry) != entry.hash:
        return Sentence("Entry {number} was changed: its hash is of something else.", number=entry.number)
    return ""
