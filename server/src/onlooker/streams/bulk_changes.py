"""One change of many streams: first what it would change of each, then the change itself."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from onlooker.audit.actor import acting_as
from onlooker.audit.entries import append_entry
from onlooker.streams.administration import set_stream
from onlooker.streams.models import Organisation, Stream, StreamTag, Tag
from onlooker.streams.options import check_name
from onlooker.streams.organisations import RefusedError

AT_MOST = 1000
"""Streams that one change is of."""
LONGEST_TAG = 50
TAGS_AT_MOST = 20
"""Of a stream."""
SETTINGS = ("site_id", "retention_days", "hours", "groups_of")


@dataclass(frozen=True)
class BulkChange:
    """What is asked for. Settings that are not named stay as they are."""

    settings: dict[str, Any] = field(default_factory=dict)
    """Some of SETTINGS."""
    added_tags: tuple[str, ...] = ()
    removed_tags: tuple[str, ...] = ()


@dataclass(frozen=True)
class PlannedChange:
    """What it means for one stream."""

    stream: Stream
    settings: dict[str, tuple[Any, Any]]
    """Before and after, by setting."""
    added_tags: tuple[str, ...]
    removed_tags: tuple[str, ...]

    @property
    def deletes_visits(self) -> bool:
        """Older visits go at once, and can't be had back."""
        before, after = self.settings.get("retention_days", (0, 0))
        return bool(after < before)

    @property
    def erases_singles(self) -> bool:
        """What was kept of single quarters of an hour goes for good."""
        before, after = self.settings.get("groups_of", (1, 1))
        return bool(before == 1 and after > 1)


def parse_tags(text: str) -> tuple[str, ...]:
    """Names that are separated by commas, each once. Raises ValueError, with a sentence."""
    found = dict.fromkeys(check_name(part) for part in text.split(",") if part.strip())
    if any(len(name) > LONGEST_TAG for name in found):
        raise ValueError(_("A tag has at most {longest} characters.").format(longest=LONGEST_TAG))
    return tuple(found)


def plan_changes(streams: Iterable[Stream], change: BulkChange) -> list[PlannedChange]:
    """Of streams with their tags at hand; those that nothing changes of are left out. Raises RefusedError."""
    planned = []
    for stream in streams:
        known = {link.tag.name for link in stream.tag_links.all()}
        added = tuple(name for name in change.added_tags if name not in known)
        removed = tuple(name for name in change.removed_tags if name in known and name not in added)
        settings = {
            name: (getattr(stream, name), value)
            for name, value in change.settings.items()
            if getattr(stream, name) != value
        }
        if len(known) + len(added) - len(removed) > TAGS_AT_MOST:
            raise RefusedError(
                _("A stream has at most {most} tags: {stream} would have more.").format(
                    most=TAGS_AT_MOST, stream=stream.name
                )
            )
        if settings or added or removed:
            planned.append(PlannedChange(stream, settings, added, removed))
    return planned


def digest_plan(planned: Sequence[PlannedChange]) -> str:
    """Differs if anything would change otherwise than it was shown."""
    parts = [(one.stream.pk, one.settings, one.added_tags, one.removed_tags) for one in planned]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def apply_changes(planned: Sequence[PlannedChange], *, actor: str, quota_s: float) -> int:
    """Each stream in a transaction of its own, so that nobody waits for all of them; says how many were changed.

    Begun again after an interruption, it goes on with those that are left. A stream that was removed is left out.
    """
    changed = 0
    for one in planned:
        try:
            with acting_as(actor):
                _apply_change(one, actor=actor, quota_s=quota_s)
            changed += 1
        except Stream.DoesNotExist:
            continue
    return changed


def _apply_change(one: PlannedChange, *, actor: str, quota_s: float) -> None:
    stream = set_stream(
        str(one.stream.client_id), {name: after for name, (_, after) in one.settings.items()}, quota_s=quota_s
    )
    assert stream.organisation
    if one.added_tags or one.removed_tags:
        change_tags(stream, stream.organisation, added=one.added_tags, removed=one.removed_tags)
        about = {"added": list(one.added_tags), "removed": list(one.removed_tags)}
        append_entry(stream.pk, actor=actor, action="stream.tagged", about=about)


def change_tags(stream: Stream, organisation: Organisation, *, added: Sequence[str], removed: Sequence[str]) -> None:
    """A tag that no stream has any more is forgotten."""
    for name in added:
        tag, _ = Tag.objects.get_or_create(organisation=organisation, name=name)
        StreamTag.objects.get_or_create(stream=stream, tag=tag)
    StreamTag.objects.filter(stream=stream, tag__organisation=organisation, tag__name__in=removed).delete()
    Tag.objects.filter(organisation=organisation, name__in=removed, stream_links=None).delete()
