"""The wheels that devices install: our own, which come with Onlooker, and those in the operator's folder."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from onlooker.settings import Settings, SettingsError, variable_name

OWN_FOLDER = Path(__file__).parent / "packages"
"""`just agent-packages` fills it, and the server's wheel contains it."""


@dataclass(frozen=True)
class AgentInstallation:
    """What a device installs."""

    projects: tuple[str, ...]
    """Of ours, the agent first."""
    requirements: str
    """The file with the pins of all that they need."""
    oldest_minor: int
    """Of Python 3."""
    megabytes: int
    """That are downloaded, about."""
    built_by: str
    """Commands, in a clone of the repository."""

    @property
    def remedy(self) -> str:
        return (
            f"This server has no package of {self.projects[-1]} to offer. It comes with a release; in a clone of the "
            f"repository, its operator builds it with: {self.built_by}"
        )


SENDING = AgentInstallation(
    ("onlooker-client",), "requirements.txt", oldest_minor=9, megabytes=80, built_by="just agent-packages"
)
COMPUTING = AgentInstallation(
    ("onlooker-client", "onlooker-pipeline", "onlooker-models"),
    "requirements-device.txt",
    oldest_minor=11,
    megabytes=120,
    built_by="just models && just agent-packages",
)
"""The agent that sends frames, and the one that computes them itself."""


@dataclass(frozen=True)
class Wheel:
    """A file that pip can install."""

    path: Path
    project: str
    """Normalised, as an index names it."""
    version: Version

    @property
    def sha256(self) -> str:
        found = self.path.stat()
        return _hash_file(self.path, found.st_mtime_ns, found.st_size)

    @property
    def requirement(self) -> str:
        """This very file, as a line of a requirements file."""
        return f"{self.project}=={self.version} --hash=sha256:{self.sha256}"


def require_agent_packages(settings: Settings) -> None:
    """Raises SettingsError if the operator's folder can't be read."""
    folder = settings.agent_packages
    if folder and not Path(folder).is_dir():
        raise SettingsError(f"{variable_name('agent_packages')} names no folder that can be read: {folder}")


def find_wheels(settings: Settings) -> dict[str, Wheel]:
    """By file name; of two with the same name, the one in the operator's folder."""
    folders = [OWN_FOLDER, *([Path(settings.agent_packages)] if settings.agent_packages else [])]
    return {wheel.path.name: wheel for folder in folders for wheel in _wheels_in(folder)}


def find_parts(settings: Settings, installation: AgentInstallation) -> list[Wheel]:
    """The newest version of each of its projects; none at all where one of them or the pins are missing."""
    if not (OWN_FOLDER / installation.requirements).is_file():
        return []
    wheels = find_wheels(settings).values()
    found = [[wheel for wheel in wheels if wheel.project == project] for project in installation.projects]
    return [max(versions, key=lambda wheel: wheel.version) for versions in found] if all(found) else []


def _wheels_in(folder: Path) -> Iterator[Wheel]:
    for path in sorted(folder.glob("[!.]*.whl")):
        try:
            project, version, _, _ = parse_wheel_filename(path.name)
        except InvalidWheelFilename:
            continue
        if path.is_file():
            yield Wheel(path, project, version)


@lru_cache(maxsize=1000)
def _hash_file(path: Path, _modified_ns: int, _size_bytes: int) -> str:
    """Files are large: they are hashed again only when they have changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
