"""A tar archive that is written and read in one go, with members of unknown size in parts."""

import tarfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO

from onlooker.settings import SettingsError

PART_BYTES = 4 * 1024**2


@dataclass(frozen=True)
class ArchiveMember:
    """A file of an archive, small enough for memory."""

    name: str
    content: bytes


def tar_blocks(members: Iterable[ArchiveMember]) -> Iterator[bytes]:
    """The bytes of an archive, as its members come."""
    for member in members:
        info = tarfile.TarInfo(member.name)
        info.size, info.mode, info.mtime = len(member.content), 0o600, int(time.time())
        yield info.tobuf()
        yield member.content
        yield bytes(-len(member.content) % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def in_parts(folder: str, stream: IO[bytes]) -> Iterator[ArchiveMember]:
    """A stream as members of a folder; `cat folder/*` puts it together again."""
    number = 0
    while content := stream.read(PART_BYTES):
        yield ArchiveMember(f"{folder}/{number:08}", content)
        number += 1


def read_members(stream: IO[bytes]) -> Iterator[ArchiveMember]:
    try:
        with tarfile.open(fileobj=stream, mode="r|") as archive:
            for info in archive:
                file = archive.extractfile(info)
                if file is None or info.size > PART_BYTES:
                    raise SettingsError(f"This is no backup of Onlooker: it has an unexpected member {info.name!r}.")
                yield ArchiveMember(info.name, file.read())
    except tarfile.TarError as error:
        raise SettingsError(f"This is no backup of Onlooker, or it is incomplete ({error}).") from None
