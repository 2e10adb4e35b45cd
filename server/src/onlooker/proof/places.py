"""Where an installation could leave something behind: its home, its database, its bus, temporary files, logs, swap."""

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import obstore

from onlooker.bus.session_store import decompress_state
from onlooker.database import direct_url
from onlooker.gateway.blobstore import StoreError, open_store
from onlooker.proof.bus_files import BusFiles
from onlooker.proof.database_contents import DatabaseContents, Part
from onlooker.proof.file_watch import walk_files
from onlooker.proof.product_processes import find_processes

if TYPE_CHECKING:
    from onlooker.proof.installation import Installation

PART_BYTES, OVERLAP_BYTES = 1 << 24, 1 << 16
SWAP_BYTES = 1 << 31
"""Read of a swap area at most."""
LOG_BYTES = 1 << 28
"""Read of the product's log at most, from its end."""
TOLERANCE_S = 2.0
"""Of a file system's clock."""
SYSTEM_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 (looked at, never used)
CORE_DUMPS = ("/var/lib/systemd/coredump", "/var/crash", "/var/lib/apport/coredump", "/cores")


@dataclass(frozen=True)
class StoragePlace:
    """Named contents that can be read in parts."""

    name: str
    read: Callable[[list[str]], Iterator[Part]]
    """Adds to the list what can't be read."""
    is_own: bool = True
    """Whether only the product writes there: then any picture is a trace, not only those of the proof."""


Find = Callable[[bytes, StoragePlace], Iterable[str]]


@dataclass
class Searched:
    """How much was searched, and what was found."""

    read: dict[str, dict[str, int]] = field(default_factory=dict)
    """Parts and bytes by place."""
    hits: list[str] = field(default_factory=list)
    limits: list[str] = field(default_factory=list)

    @property
    def total_bytes(self) -> int:
        return sum(one["bytes"] for one in self.read.values())


class Storage:
    """The places of one installation; only what was written since the proof began is read."""

    def __init__(self, installation: "Installation") -> None:
        self._installation = installation
        self.began_at = time.time() - TOLERANCE_S
        self.database = DatabaseContents(direct_url(installation.settings), began_at=self.began_at)

    def places(self) -> list[StoragePlace]:
        return [
            StoragePlace("home", self._read_home),
            StoragePlace("blob store", self._read_blobs, is_own=False),
            StoragePlace("bus", self._read_bus),
            StoragePlace("session states", self._read_states),
            StoragePlace("database", self.database.read_tables),
            StoragePlace("database server's logs", self.database.read_logs, is_own=False),
            StoragePlace("temporary folders", self._read_temporary, is_own=False),
            StoragePlace("logs", self._read_logs),
            StoragePlace("system logs", self._read_system_logs, is_own=False),
            StoragePlace("core dumps", self._read_core_dumps, is_own=False),
            StoragePlace("swap", read_swap, is_own=False),
        ]

    def temporary_folders(self) -> list[Path]:
        """The system's, and those that processes see in place of them."""
        found = dict.fromkeys(map(Path, (tempfile.gettempdir(), *SYSTEM_TEMPORARY)))
        for pid in find_processes(self._installation.home):
            for name in SYSTEM_TEMPORARY:
                seen = Path(f"/proc/{pid}/root{name}")
                if not _is_same(seen, Path(name)):
                    found[seen] = None
        return list(found)

    def elsewhere(self) -> set[Path]:
        """Folders that are places of their own, wherever they lie."""
        folders = {self._installation.home, self._installation.folder, Path(self.database.data_folder or "/nowhere")}
        return folders | {folder.resolve() for folder in folders}

    def _read_home(self, _: list[str]) -> Iterator[Part]:
        home = self._installation.home
        yield from self._read_folder(home, leave_out={home / "blobs", home / "nats" / "jetstream"})

    def _read_blobs(self, limits: list[str]) -> Iterator[Part]:
        settings = self._installation.settings
        if not settings.blob_store_url:
            yield from self._read_folder(settings.home_path / "blobs")
            return
        store = open_store(settings)
        try:
            for page in obstore.list(store):
                for item in page:
                    if item["last_modified"].timestamp() >= self.began_at:
                        yield item["path"], bytes(obstore.get(store, item["path"]).bytes())
        except StoreError as error:
            limits.append(f"The blob store can't be listed: {error}.")

    def _read_bus(self, limits: list[str]) -> Iterator[Part]:
        folder = self._installation.home / "nats" / "jetstream"
        if not folder.is_dir():
            limits.append("The bus's files are not in this home: repeat the proof where the bus runs.")
            return
        yield from self._read_folder(folder)

    def _read_states(self, _: list[str]) -> Iterator[Part]:
        """Those in the bus's files that keys in the same files open: their bytes, and their values as text."""
        for state in BusFiles.read(self._installation.home).readable_states():
            plain = decompress_state(state.value) or state.value
            yield state.subject, plain
            with suppress(msgspec.MsgspecError):
                yield state.subject, msgspec.json.encode(msgspec.msgpack.decode(plain))

    def _read_temporary(self, limits: list[str]) -> Iterator[Part]:
        for folder in self.temporary_folders():
            if folder.exists() and not os.access(folder, os.R_OK):
                limits.append(f"{folder} can't be read by this user.")
            yield from self._read_folder(folder, leave_out=self.elsewhere(), limits=limits)

    def _read_logs(self, limits: list[str]) -> Iterator[Part]:
        """Files that were named, and those that the processes write to."""
        files = [*self._installation.log_files, *outputs_of(find_processes(self._installation.home))]
        if not files:
            limits.append(
                "Where the processes' log goes can't be seen by this user. Name its file: `onlooker prove --logs FILE`."
            )
        for path in dict.fromkeys(files):
            if path.stat().st_size > LOG_BYTES:
                limits.append(f"Of the log {path.name}, the last {LOG_BYTES // 1024**2} MiB were read.")
            yield from read_file(path, last_bytes=LOG_BYTES)

    def _read_system_logs(self, limits: list[str]) -> Iterator[Part]:
        yield from self._read_folder(Path("/var/log"), limits=limits)

    def _read_core_dumps(self, limits: list[str]) -> Iterator[Part]:
        for folder in map(Path, CORE_DUMPS):
            yield from self._read_folder(folder, limits=limits)

    def _read_folder(
        self, folder: Path, *, leave_out: Iterable[Path] = (), limits: list[str] | None = None
    ) -> Iterator[Part]:
        unreadable = 0
        for path in walk_files(folder, leave_out=set(leave_out)):
            try:
                if path.stat().st_mtime >= self.began_at:
                    yield from read_file(path)
            except PermissionError:
                unreadable += 1
            except OSError:
                continue  # it is gone
        if unreadable and limits is not None:
            limits.append(f"{unreadable} files in {folder} can't be read by this user.")


def search(places: Iterable[StoragePlace], find: Find, say: Callable[[str], None] = lambda _: None) -> Searched:
    searched = Searched()
    for place in places:
        counts = searched.read[place.name] = {"parts": 0, "bytes": 0}
        for name, content in place.read(searched.limits):
            counts["parts"] += 1
            counts["bytes"] += len(content)
            searched.hits += [f"{place.name}: {name}: {trace}" for trace in find(content, place)]
        say(f"  {place.name}: {counts['bytes'] / 1e6:.1f} MB in {counts['parts']} parts")
    return searched


def search_places(installation: "Installation", find: Find) -> Searched:
    """All places; `find` says what it found in one part of a place."""
    return search(installation.storage.places(), find, installation.say)


def read_file(path: Path, *, limit_bytes: int | None = None, last_bytes: int | None = None) -> Iterator[Part]:
    """In parts that overlap, so that nothing is cut in two."""
    read, rest = 0, b""
    with path.open("rb") as file:
        if last_bytes is not None:
            file.seek(max(0, path.stat().st_size - last_bytes))
        while (limit_bytes is None or read < limit_bytes) and (content := file.read(PART_BYTES)):
            read += len(content)
            yield str(path), rest + content
            rest = content[-OVERLAP_BYTES:]


def outputs_of(processes: Iterable[int]) -> list[Path]:
    """Regular files that processes have as standard output or standard error, as far as this user may see that."""
    found = []
    for pid in processes:
        for number in (1, 2):
            try:
                target = Path(f"/proc/{pid}/fd/{number}").readlink()
            except OSError:
                continue
            if target.is_file() and not str(target).startswith("/dev/"):
                found.append(target)
    return found


def read_swap(limits: list[str], listed: Path = Path("/proc/swaps")) -> Iterator[Part]:
    try:
        lines = listed.read_text().splitlines()[1:]
    except OSError:
        limits.append("Whether there is swap can't be seen.")
        return
    for line in lines:
        area = Path(line.split()[0])
        try:
            yield from read_file(area, limit_bytes=SWAP_BYTES)
            size = int(line.split()[2]) * 1024
        except OSError as error:
            limits.append(f"Swap {area} can't be read: {error.strerror}. Encrypt it, or repeat the proof as root.")
            continue
        if size > SWAP_BYTES:
            limits.append(f"Of swap {area}, the first {SWAP_BYTES // 1024**3} GiB were read.")


def _is_same(one: Path, other: Path) -> bool:
    """Also where it can't be seen."""
    try:
        return one.samefile(other)
    except OSError:
        return True
