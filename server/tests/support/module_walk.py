"""The walk of a request: the modules of its functions, in the order in which Python calls them."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import groupby
from types import FrameType

_is_followed: ContextVar[bool] = ContextVar("is_followed", default=False)


@dataclass(frozen=True)
class ModuleWalk:
    """`called` has the module of each function that was called, in order."""

    packages: tuple[str, ...]
    called: list[str]

    @property
    def steps(self) -> list[str]:
        return [module for module, _ in groupby(self.called)]

    @property
    def modules(self) -> list[str]:
        return list(dict.fromkeys(self.called))

    @property
    def returns(self) -> int:
        """How often a module is entered that was left before."""
        return len(self.steps) - len(self.modules)

    def __str__(self) -> str:
        return f"{len(self.modules)} modules, {self.returns} returns: {' > '.join(self.steps)}"


@contextmanager
def followed(*packages: str, only_this_task: bool = False) -> Iterator[ModuleWalk]:
    """The walk through these packages, on any thread or in this task and those that it starts.

    To resume a coroutine is not a call.
    """
    walk = ModuleWalk(packages, [])
    frames: dict[int, FrameType] = {}  # kept, so that no id is used twice

    def follow(frame: FrameType, event: str, _argument: object) -> None:
        name = frame.f_globals.get("__name__", "")
        if event != "call" or id(frame) in frames or not name.startswith(packages):
            return
        if only_this_task and not _is_followed.get():
            return
        frames[id(frame)] = frame
        walk.called.append(name)

    token = _is_followed.set(True)
    threading.setprofile(follow)
    sys.setprofile(follow)
    try:
        yield walk
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        _is_followed.reset(token)
