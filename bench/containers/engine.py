"""Debian's buildah and podman with a store of their own, and Debian's packages in place of images from a registry."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.lib.product import ROOT

IMAGE = ROOT / "deploy" / "image"
TOOLS = ROOT / ".containers-venv" / "bin"
PROGRAMS = ("buildah", "mmdebstrap", "podman")
ISOLATED = Path(__file__).with_name("isolated")
"""Containers are run within it; images are built outside, with the machine's network."""
PID_MAX = Path("/proc/sys/kernel/pid_max")
NAME = "localhost/onlooker:0.1.0"
"""As deploy/compose/.env.example has it."""
STAND_INS = {
    "docker.io/library/postgres:15-bookworm": ("postgresql",),
    "docker.io/library/haproxy:2.8-bookworm": ("haproxy",),
}
"""The images that compose.yaml takes from a registry, and the package of Debian that plays each."""
_STORAGE = """
[storage]
driver = "{driver}"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""
_CONTAINERS = """
[containers]
default_ulimits = ["nofile={files}:{files}", "nproc={processes}:{processes}"]
[network]
network_backend = "netavark"
network_config_dir = "{folder}/networks"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{folder}/tmp"
static_dir = "{folder}/libpod"
volume_path = "{folder}/volumes"
"""


@dataclass(frozen=True)
class ContainerEngine:
    """All images, containers, volumes and networks of a check are in one folder."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """Of buildah, podman and what calls them. There is no systemd to run health checks: the check does."""
        return os.environ | {
            "CONTAINERS_STORAGE_CONF": str(self.folder / "storage.conf"),
            "CONTAINERS_CONF": str(self.folder / "containers.conf"),
            "BUILDAH_ISOLATION": "chroot",
            "DISABLE_HC_SYSTEMD": "true",
            "PATH": f"{TOOLS}{os.pathsep}{os.environ['PATH']}",
        }

    def configure(self) -> None:
        """SystemExit with the remedy where a program is missing."""
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            raise SystemExit(f"Not installed: {', '.join(missing)}. On Debian, apt-get install them; this needs root.")
        self.folder.mkdir(parents=True, exist_ok=True)
        driver = os.environ.get("STORAGE_DRIVER", "overlay")
        # What podman asks for by default may be more than a virtual machine allows even root.
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        processes = min(resource.getrlimit(resource.RLIMIT_NPROC)[1], int(PID_MAX.read_text()))
        (self.folder / "storage.conf").write_text(_STORAGE.format(folder=self.folder, driver=driver))
        (self.folder / "containers.conf").write_text(
            _CONTAINERS.format(folder=self.folder, files=files, processes=processes)
        )

    def run(
        self, command: Sequence[str | Path], *, limit_s: float = 600, environment: Mapping[str, str] | None = None
    ) -> str:
        """What it printed; RuntimeError with its complaint if it fails."""
        done = subprocess.run(
            [str(word) for word in command],
            env=self.environment | dict(environment or {}),
            capture_output=True,
            text=True,
            check=False,
            timeout=limit_s,
        )
        if done.returncode:
            said = f"{done.stdout}{done.stderr}".strip()[-3000:]
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{said}")
        return done.stdout

    def succeeds(self, command: Sequence[str | Path]) -> bool:
        try:
            self.run(command, limit_s=60)
        except RuntimeError:
            return False
        return True

    def inspect_image(self, name: str) -> dict[str, Any]:
        (found,) = json.loads(self.run([ISOLATED, "podman", "image", "inspect", name]))
        return dict(found)

    def has_image(self, name: str) -> bool:
        return self.succeeds(["buildah", "inspect", "--type", "image", name])

    def build(self, name: str) -> None:
        """The image itself, on a base that is assembled here."""
        self.run([IMAGE / "build", "--debian", name], limit_s=1800)

    def assemble_stand_ins(self) -> None:
        """With the entry points that compose.yaml counts on."""
        for name, packages in STAND_INS.items():
            if self.has_image(name):
                continue
            assembled = f"localhost/{packages[0]}"
            self.run([IMAGE / "base", assembled, *packages], limit_s=900)
            containerfile = Path(__file__).with_name("stand_ins") / f"{packages[0]}.Containerfile"
            self.run(["buildah", "build", "--tag", name, "--file", containerfile, containerfile.parent])

    def clear(self) -> None:
        """All containers with their volumes and networks, also what a broken run left; images stay.

        For use within `isolated`, where podman's locks are gone with the run that took them: they are numbered again.
        """
        kinds = (["pod", "rm", "--time=2"], ["rm", "--time=2"], ["volume", "rm"])
        commands = [["system", "renumber"], *([*kind, "--all", "--force"] for kind in kinds)]
        for command in (*commands, ["network", "prune", "--force"]):
            self.succeeds(["podman", *command])

    def remove(self) -> None:
        """Everything, also what a broken run left."""
        for command in (["buildah", "rm", "--all"], ["buildah", "rmi", "--all", "--force"]):
            self.succeeds(command)
        shutil.rmtree(self.folder, ignore_errors=True)
