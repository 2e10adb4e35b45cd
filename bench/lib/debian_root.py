"""An empty Debian in a folder, as a device that somebody has just unpacked: commands run in it, with this network."""

import os
import shutil
import subprocess
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.lib.product import ROOT, say

SUITE = "bookworm"
LATER = ("curl", "ca-certificates", "python3-venv", "libseccomp2", "systemd-timesyncd")
"""Debian's packages that are there to be installed, and not installed."""
ARCHIVE = ROOT / "var" / "debian-root" / f"{SUITE}-{zlib.crc32(' '.join(LATER).encode()):08x}.tar"
"""With other packages it is another one."""
BUILD_LIMIT_S = 1200
_ENTER = 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && exec chroot "$@"'
_NETWORK = ("/etc/hosts", "/etc/resolv.conf")


@dataclass(frozen=True)
class DebianRoot:
    """Commands in it see its files only. Mounts end with the command."""

    path: Path
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, *words: str, user: str = "root", **variables: str) -> list[str]:
        """What runs these words in it, in the user's home folder."""
        home = "/root" if user == "root" else f"/home/{user}"
        known = {"HOME": home, "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}
        known |= {"LANG": "C.UTF-8", "TERM": "dumb"} | dict(self.environment) | variables
        inside = ["env", "-i", "-C", home, *(f"{name}={value}" for name, value in known.items()), *words]
        return ["unshare", "--mount", "sh", "-c", _ENTER, "sh", str(self.path), *_as_user(user), *inside]

    def run(
        self, *words: str, user: str = "root", limit_s: float = 600, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Until it ends; standard output and errors are one text."""
        return subprocess.run(
            self.command(*words, user=user, **variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=limit_s,
            check=False,
        )

    def add_packages(self, *names: str) -> None:
        """Debian's, out of those that were fetched with the archive."""
        options = ["--no-download", "--no-install-recommends", "-qq", "-y"]
        done = self.run("apt-get", "install", *options, *names, DEBIAN_FRONTEND="noninteractive")
        if done.returncode:
            raise RuntimeError(f"apt-get install {' '.join(names)} failed:\n{done.stdout[-2000:]}")
        self.copy_network_files()  # ca-certificates writes its own

    def copy_network_files(self) -> None:
        """Whatever makes names resolve and pip work on this machine."""
        for file in (*_NETWORK, "/etc/pip.conf", self.environment.get("PIP_CERT", "")):
            if file and Path(file).is_file():
                copy = self.path / file.removeprefix("/")
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.unlink(missing_ok=True)
                shutil.copy(file, copy)


def _as_user(user: str) -> Sequence[str]:
    return [] if user == "root" else ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups"]


@contextmanager
def unpacked_root(folder: Path) -> Iterator[DebianRoot]:
    """A fresh copy, which is gone afterwards. Whatever makes pip work on this machine holds in it too."""
    require_archive()
    path = folder / "root"
    path.mkdir(parents=True)
    try:
        subprocess.run(["tar", "-xpf", str(ARCHIVE), "-C", str(path)], check=True, timeout=300)
        pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        root = DebianRoot(path, pip)
        root.copy_network_files()
        yield root
    finally:
        shutil.rmtree(path, ignore_errors=True)


def require_archive() -> None:
    """Fetched from Debian once: its smallest variant with systemd, and the packages that come later beside it."""
    if os.geteuid() != 0:
        raise SystemExit("Only root can enter another root: run this as root.")
    if ARCHIVE.exists():
        return
    if not shutil.which("mmdebstrap"):
        raise SystemExit("There is no mmdebstrap. Install Debian's package of that name.")
    say(f"fetching Debian's {SUITE} into {ARCHIVE}, once")
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    unfinished = ARCHIVE.with_suffix(".new.tar")
    fetch = f'chroot "$1" apt-get install --download-only --no-install-recommends -qq -y {" ".join(LATER)}'
    options = ["--quiet", "--variant=minbase", "--include=systemd", "--skip=cleanup/apt", f"--customize-hook={fetch}"]
    subprocess.run(["mmdebstrap", *options, SUITE, str(unfinished)], check=True, timeout=BUILD_LIMIT_S)
    unfinished.rename(ARCHIVE)
