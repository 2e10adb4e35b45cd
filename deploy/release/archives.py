"""Wheels and source archives of our packages, and the pins with hashes that install them."""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from deploy.release.source_tree import ROOT, Commit, ReleaseError

MODELS_WHEEL = """
import sys
from pathlib import Path
from building.wheel import build_wheel
print(build_wheel(*map(Path, sys.argv[1:])))
"""
INSTALLED_BY = {
    "requirements-server.txt": ("server.txt", ("onlooker", "onlooker_models", "onlooker_pipeline")),
    "requirements-client.txt": ("client.txt", ("onlooker_client",)),
    "requirements-device.txt": ("device.txt", ("onlooker_client", "onlooker_models", "onlooker_pipeline")),
    "requirements-billing.txt": ("billing.txt", ()),
    "requirements-traces.txt": ("traces.txt", ()),
}
"""Files of pins in a release: the pins they begin with, and the wheels of ours that they add."""
PACKERS = tuple(f":(exclude)deploy/{name}" for name in ("documentation", "release", "__init__.py"))
"""What people who install a release have no use for."""


def build_archives(tree: Path, commit: Commit, folder: Path) -> None:
    """Of the nets, the source archive has the builder; their wheel must be in the folder already."""
    for name in ("client", "pipeline", "server"):
        shutil.copy(tree / "LICENSE", tree / name)
        if name == "server":
            _add_agent_packages(tree, folder)
            _run([sys.executable, "-m", "deploy.documentation"], cwd=tree)
        _hatchling(tree / name, commit, folder, "sdist", "wheel")
    _hatchling(tree / "models", commit, folder, "sdist")


def _add_agent_packages(tree: Path, folder: Path) -> None:
    """What a console offers to devices is in the server's wheel: as `just agent-packages` does it."""
    packages = tree / "server" / "src" / "onlooker" / "console" / "agent" / "packages"
    packages.mkdir()
    for name in ("onlooker_client", "onlooker_pipeline", "onlooker_models"):
        [wheel] = folder.glob(f"{name}-*.whl")
        shutil.copy(wheel, packages)
    shutil.copy(tree / "requirements" / "client.txt", packages / "requirements.txt")
    shutil.copy(tree / "requirements" / "device.txt", packages / "requirements-device.txt")


def build_models_wheel(tree: Path, nets: Path, scratch: Path, folder: Path) -> None:
    """The wheel that `just models` built has the nets; everything else in it is taken from the commit."""
    command = [sys.executable, "-c", MODELS_WHEEL, str(tree / "models"), str(nets), str(scratch)]
    wheel = _run(command, cwd=tree / "models").strip().splitlines()[-1]
    shutil.copy(wheel, folder)


def unpack_nets(tree: Path, folder: Path) -> Path:
    """The nets of models/dist, if they are those of the commit's checksums."""
    wheels = sorted((ROOT / "models" / "dist").glob("*.whl"))
    if not wheels:
        raise ReleaseError("There is no wheel in models/dist. Run `just models` first.")
    with zipfile.ZipFile(wheels[-1]) as packed:
        packed.extractall(folder, [name for name in packed.namelist() if name.startswith("onlooker_models/data/")])
    nets = folder / "onlooker_models" / "data"
    reviewed = _read_checksums(tree / "models" / "SHA256SUMS")
    found = {str(path.relative_to(nets)): sha256_of(path) for path in nets.rglob("*") if path.is_file()}
    if found != reviewed:
        raise ReleaseError(f"{wheels[-1].name} has other nets than models/SHA256SUMS. Run `just models` again.")
    return nets


def pack_deploy_folder(commit: Commit, version: str, folder: Path) -> None:
    """Units and scripts, for people without a clone of the repository: unpacked in /opt, they are where guides say."""
    archive = folder / f"onlooker-deploy-{version}.tar.gz"
    command = ["git", "archive", "--format=tar.gz", "--prefix=onlooker/", "-o", str(archive), commit.sha, "deploy"]
    _run([*command, *PACKERS], cwd=ROOT)


def write_pins(tree: Path, folder: Path) -> None:
    """What pip installs with `--require-hashes`: the server's and the client's packages, and our wheels beside them."""
    for name, (pins, packages) in INSTALLED_BY.items():
        own = [_pinned_wheel(folder, package) for package in packages]
        text = (tree / "requirements" / pins).read_text(encoding="utf-8")
        (folder / name).write_text("".join(own) + text, encoding="utf-8")


def write_checksums(folder: Path) -> None:
    lines = [f"{sha256_of(path)}  {path.name}\n" for path in sorted(folder.iterdir())]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")


def sha256_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _pinned_wheel(folder: Path, package: str) -> str:
    (wheel,) = folder.glob(f"{package}-*.whl")
    return f"./{wheel.name} \\\n    --hash=sha256:{sha256_of(wheel)}\n"


def _read_checksums(path: Path) -> dict[str, str]:
    lines = (line.split(maxsplit=1) for line in path.read_text(encoding="utf-8").splitlines())
    return {name: sha256 for sha256, name in lines}


def _hatchling(project: Path, commit: Commit, folder: Path, *targets: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    for target in targets:
        command += ["-t", target]
    _run(command, cwd=project, SOURCE_DATE_EPOCH=str(commit.epoch))


def _run(command: list[str], *, cwd: Path, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | variables
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{' '.join(command[:4])} failed:\n{done.stderr.strip()}")
    return done.stdout
