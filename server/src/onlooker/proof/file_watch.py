"""Copies of files as they change: also of those that are deleted or overwritten later."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

LOOK_EVERY_S = 0.25
LARGEST_BYTES = 1 << 26
"""Of a file; more of it is not copied."""
KEPT_BYTES = 1 << 29
"""Of all copies; what comes later is not copied, and counted."""


class FileWatch(threading.Thread):
    """Looks at folders again and again until it is stopped."""

    def __init__(
        self, folders: Sequence[Path], *, leave_out: Sequence[Path] = (), since: float = 0.0, levels: int = 64
    ) -> None:
        super().__init__(daemon=True)
        self._folders, self._leave_out, self._since, self._levels = folders, set(leave_out), since, levels
        self._known: dict[Path, tuple[int, int]] = {}
        self._is_over = threading.Event()
        self._kept_bytes = 0
        self.contents: list[tuple[Path, bytes]] = []
        self.not_kept = 0

    def __enter__(self) -> "FileWatch":
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.stop()

    def run(self) -> None:
        while not self._is_over.wait(LOOK_EVERY_S):
            self.look()

    def look(self) -> None:
        for folder in self._folders:
            for path in walk_files(folder, leave_out=self._leave_out, levels=self._levels):
                with suppress(OSError):
                    found = path.stat()
                    seen = (found.st_mtime_ns, found.st_size)
                    if found.st_mtime >= self._since and self._known.get(path) != seen:
                        self._known[path] = seen
                        self._keep(path)

    def _keep(self, path: Path) -> None:
        if self._kept_bytes >= KEPT_BYTES:
            self.not_kept += 1
            return
        with path.open("rb") as file:
            content = file.read(LARGEST_BYTES)
        self._kept_bytes += len(content)
        self.contents.append((path, content))

    def stop(self) -> None:
        self._is_over.set()
        self.join()
        self.look()


def walk_files(
    folder: Path, *, leave_out: set[Path] | frozenset[Path] = frozenset(), levels: int = 64
) -> Iterator[Path]:
    """Regular files below a folder; files come and go meanwhile, and links are not followed."""
    if folder in leave_out:
        return
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        path = Path(entry.path)
        with suppress(OSError):
            if entry.is_dir(follow_symlinks=False):
                if levels:
                    yield from walk_files(path, leave_out=leave_out, levels=levels - 1)
            elif entry.is_file(follow_symlinks=False) and path not in leave_out:
                yield path
