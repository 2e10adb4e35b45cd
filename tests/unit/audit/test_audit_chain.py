"""The chain of a log: what breaks it is found, and the entry is named."""

from dataclasses import replace

import pytest

from onlooker.audit.chain import ChainEnds, LoggedEntry, check_chain, hash_entry
from onlooker.audit.export import json_lines, read_json_lines

AT = "2026-11-18T09:00:00.000001Z"


def make_chain(length: int, *, first: int = 1, stream_id: int = 7) -> list[LoggedEntry]:
    entries: list[LoggedEntry] = []
    for number in range(first, first + length):
        previous = entries[-1].hash if entries else ""
        one = LoggedEntry(stream_id, number, AT, "console", "account:1", "stream.changed", '{"a": 1}', previous, "")
        entries.append(replace(one, hash=hash_entry(one)))
    return entries


def ends_of(entries: list[LoggedEntry]) -> ChainEnds:
    return ChainEnds(entries[0].number, entries[-1].number, entries[-1].hash)


def test_an_unbroken_chain_is_unbroken_from_its_oldest_entry_on() -> None:
    entries = make_chain(9)
    checked = check_chain(entries, ends_of(entries))
    assert (checked.fault, checked.entries, checked.last_number, checked.last_hash) == ("", 9, 9, entries[-1].hash)
    kept = entries[4:]
    assert check_chain(kept, ends_of(kept)).fault == ""
    assert check_chain(iter(read_json_lines(json_lines(kept)))).fault == "", "also as a file"


@pytest.mark.parametrize("member", ["at", "role", "actor", "action", "detail"])
@pytest.mark.parametrize("place", [0, 4, 8])
def test_a_changed_entry_is_named(member: str, place: int) -> None:
    entries = make_chain(9)
    broken = replace(entries[place], **{member: getattr(entries[place], member) + " "})
    checked = check_chain([*entries[:place], broken, *entries[place + 1 :]], ends_of(entries))
    assert (checked.broken_number, checked.entries) == (place + 1, place)
    assert f"Entry {place + 1} was changed" in checked.fault


def test_an_entry_that_was_changed_and_hashed_again_breaks_the_next() -> None:
    entries = make_chain(9)
    forged = replace(entries[3], actor="account:2")
    forged = replace(forged, hash=hash_entry(forged))
    checked = check_chain([*entries[:3], forged, *entries[4:]], ends_of(entries))
    assert (checked.broken_number, checked.fault) == (5, "Entry 5 does not follow entry 4: one of them was replaced.")


def test_missing_entries_are_named_wherever_they_were() -> None:
    entries = make_chain(9)
    ends = ends_of(entries)
    assert check_chain(entries[2:], ends).broken_number == 3
    assert "Entry 1 is missing" in check_chain(entries[2:], ends).fault
    assert "Entry 5 is missing" in check_chain([*entries[:4], *entries[5:]], ends).fault
    assert "Entry 8 is missing" in check_chain(entries[:7], ends).fault
    assert "Entry 1 is missing" in check_chain([], ends).fault
    assert "another stream" in check_chain([*entries, *make_chain(1, first=10, stream_id=8)]).fault


def test_parts_of_entries_can_not_change_places() -> None:
    """Lengths are hashed, too."""
    one = LoggedEntry(7, 1, AT, "r", "ab", "c", "{}", "", "")
    assert hash_entry(one) != hash_entry(replace(one, actor="a", action="bc"))


def test_a_line_that_is_no_entry_is_named() -> None:
    lines = [*json_lines(make_chain(1)), '{"number": 2}\n']
    with pytest.raises(ValueError, match="Line 2"):
        list(read_json_lines(lines))
