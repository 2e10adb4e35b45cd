"""Debian's Python for 64-bit ARM in a folder, run by an emulator: files are unpacked, nothing is configured."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from bench.lib.product import ROOT, say

SUITE = "bookworm"
ARCHIVE = ROOT / "var" / "arm-root" / f"{SUITE}-arm64.tar"
EMULATOR = "qemu-aarch64-static"
PACKAGES = ("python3.11", "libstdc++6", "libgcc-s1")
BUILD_LIMIT_S = 1200
INSTALL_LIMIT_S = 600
SITE = "/opt/site-packages"
_ENTER = (
    'mount -t proc proc "$1/proc" && mount --bind "$1/etc/cpuinfo" "$1/proc/cpuinfo" && '
    'mount --rbind /dev "$1/dev" && mount --rbind /sys "$1/sys" && exec chroot "$@"'
)
PARTS = {"cortex-a72": 0xD08, "cortex-a76": 0xD0B}
"""Processors by Arm's own number. ONNX Runtime reads it of the kernel, whose answer is about this machine."""
_PROCESSOR = """\
processor\t: {number}
BogoMIPS\t: 108.00
Features\t: fp asimd evtstrm crc32 cpuid
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x0
CPU part\t: {part:#x}
CPU revision\t: 3

"""


@dataclass(frozen=True)
class ArmRoot:
    """A device's files. Its programs run on an emulated processor, which the kernel need not know about."""

    path: Path
    cpu: str

    def command(self, *words: str) -> list[str]:
        """What runs Python with these words in it."""
        emulated = [f"/usr/bin/{EMULATOR}", "-cpu", self.cpu, "/usr/bin/python3.11", *words]
        return ["unshare", "--mount", "sh", "-c", _ENTER, "sh", str(self.path), *emulated]

    def run_python(self, *words: str, limit_s: float) -> str:
        """What it printed; RuntimeError with what it complained of if it failed."""
        variables = {"PYTHONPATH": SITE, "HOME": "/root", "LANG": "C.UTF-8", "ORT_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(
            self.command(*words),
            env={**variables, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"Python on {self.cpu} ended with {done.returncode}: {done.stderr[-3000:]}")
        return done.stdout

    def install(self, pins: Path, *wheels: Path) -> None:
        """Wheels for ARM of everything that is pinned, by their hashes, and ours; nothing is built."""
        platform = ["--python-platform", "aarch64-manylinux_2_28", "--python-version", "3.11", "--only-binary", ":all:"]
        install = ["uv", "pip", "install", "--quiet", "--target", str(self.path / SITE[1:]), *platform]
        for more in (["--require-hashes", "-r", str(pins)], ["--no-deps", *map(str, wheels)]):
            done = subprocess.run(
                [*install, *more], capture_output=True, text=True, timeout=INSTALL_LIMIT_S, check=False
            )
            if done.returncode:
                raise RuntimeError(f"uv pip install for ARM failed: {done.stderr[-2000:]}")


def unpack_arm_root(folder: Path, *, cpu: str) -> ArmRoot:
    """A fresh copy in this folder, with the emulator in it."""
    _require_archive()
    path = folder / "root"
    path.mkdir(parents=True)
    subprocess.run(["tar", "-xpf", str(ARCHIVE), "-C", str(path)], check=True, timeout=300)
    for name in ("proc", "dev", "sys", "etc", "opt", "tmp", "root", "usr/bin"):
        (path / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(_find(EMULATOR, package="qemu-user-static"), path / "usr" / "bin" / EMULATOR)
    processors = [_PROCESSOR.format(number=number, part=PARTS[cpu]) for number in range(os.cpu_count() or 1)]
    (path / "etc" / "cpuinfo").write_text("".join(processors), encoding="ascii")
    return ArmRoot(path, cpu)


def _require_archive() -> None:
    """Fetched from Debian once."""
    if os.geteuid() != 0:
        raise SystemExit("Only root can enter another root: run this as root.")
    _find(EMULATOR, package="qemu-user-static")
    if ARCHIVE.exists():
        return
    mmdebstrap = _find("mmdebstrap", package="mmdebstrap")
    say(f"fetching Debian's {SUITE} for ARM into {ARCHIVE}, once")
    ARCHIVE.parent.mkdir(parents=True, exist_ok=True)
    unfinished = ARCHIVE.with_suffix(".new.tar")
    options = ["--quiet", "--variant=extract", "--architectures=arm64", f"--include={','.join(PACKAGES)}"]
    subprocess.run([mmdebstrap, *options, SUITE, str(unfinished)], check=True, timeout=BUILD_LIMIT_S)
    unfinished.rename(ARCHIVE)


def _find(command: str, *, package: str) -> str:
    found = shutil.which(command)
    if found is None:
        raise SystemExit(f"There is no {command}. Install Debian's package {package}.")
    return found
