"""What a check is, and what it found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onlooker.proof.installation import Installation


@dataclass(frozen=True)
class Finding:
    """What a check did and found, in sentences for a data-protection officer."""

    done: str
    found: str
    ok: bool
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Plain values of JSON."""
    broken: tuple[str, ...] = ()
    """Ids of the promises that are broken; where it is empty and `ok` is false, all that the check covers."""
    unchecked: tuple[str, ...] = ()
    """Ids of the promises about which it could find out nothing; `limits` says why."""
    limits: tuple[str, ...] = ()
    """What could not be looked at here, and why."""


class Unchecked(Exception):
    """The check can't be done on this installation; the message says why."""


@dataclass(frozen=True)
class Check:
    """Something that is done on a running installation to find out whether promises are kept."""

    id: str
    title: str
    """Said while it works, such as "Looks for marked pictures on the disk"."""
    promises: tuple[str, ...]
    run: "Callable[[Installation], Finding]"
    begin: "Callable[[Installation], None] | None" = None
    """Called before the first check runs, for one that watches the others; it ends with `installation.things`."""
