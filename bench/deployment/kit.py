"""Everything that people install, built from a clean clone and checked by its own recipes; their figures together."""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.lib.product import ROOT, conclude, concluding, say
from bench.lib.testdata import BESIDE_THE_PROJECT

KEPT = ROOT / "var" / "kit"
"""Not /tmp, which services with a folder of their own there don't see."""
IMAGE = "{folder}/images"
"""Where `image` leaves what `image-journey` and `compose` start from."""
CONTAINERS = ("buildah", "mmdebstrap", "podman", "netavark")
NETWORKS = ("aardvark-dns", "catatonit", "iptables")
BESIDE_THE_PATH = ("/usr/sbin", "/usr/lib/podman")
"""Where Debian puts programs that no person calls."""
OF_THE_CALLER = ("PYTHONPATH", "VIRTUAL_ENV")


@dataclass(frozen=True)
class Part:
    """A recipe with its arguments, and the programs that it can't do without."""

    recipe: tuple[str, ...]
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.recipe[0]


PARTS = (
    Part(("release",)),
    Part(("install-release",)),
    Part(("container-files",)),
    Part(("image", "--folder", IMAGE), CONTAINERS),
    Part(("image-journey", IMAGE), CONTAINERS),
    Part(("compose", "--folder", IMAGE), CONTAINERS + NETWORKS),
    Part(("monitoring",), ("promtool",)),
    Part(("kubernetes",), ("kubectl",)),
    Part(("kubernetes-play",), ("kubectl",)),
    Part(("cell-units",), ("systemd-analyze", "etcd")),
    Part(("agent-install",), ("mmdebstrap",)),
    Part(("upgrade-drill",)),
    Part(("restore-drill", "--visits", "50000", "--pages", "60"), ("pgbackrest",)),
)


def _opened(folder: Path) -> Path:
    """Services run as users of their own, who must get to their files."""
    folder.chmod(0o755)
    return folder


@contextmanager
def clean_clone(folder: Path) -> Iterator[Path]:
    """HEAD with an environment of its own, as the README says; what is beside us is beside it too."""
    clone = folder / "onlooker"
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
    if BESIDE_THE_PROJECT.is_dir():
        (folder / "shared").symlink_to(BESIDE_THE_PROJECT.parent)
    models = list((ROOT / "models" / "dist").glob("*.whl"))
    (clone / "models" / "dist").mkdir(parents=True, exist_ok=True)
    for wheel in models:
        shutil.copy(wheel, clone / "models" / "dist")
    just(clone, "init")
    if not models:
        just(clone, "models")
    yield clone


def just(clone: Path, *words: str, check: bool = True) -> str:
    """What a recipe prints there, in its own environment."""
    environment = {name: value for name, value in os.environ.items() if name not in OF_THE_CALLER}
    say(f"--- just {' '.join(words)}")
    done = subprocess.run(["just", *words], cwd=clone, env=environment, stdout=subprocess.PIPE, text=True, check=check)
    return done.stdout


def run(part: Part, clone: Path) -> dict[str, Any]:
    """The last line of its recipe, or why it did not run."""
    places = os.pathsep.join((os.environ["PATH"], *BESIDE_THE_PATH))
    if missing := [program for program in part.needs if not shutil.which(program, path=places)]:
        return {"ok": False, "reason": f"not installed: {', '.join(missing)}"}
    began = time.monotonic()
    printed = just(clone, *(word.format(folder=clone.parent) for word in part.recipe), check=False)
    try:
        figures: dict[str, Any] = json.loads(printed.strip().splitlines()[-1])
    except (IndexError, ValueError):
        figures = {"ok": False, "reason": "it ended without figures"}
    say(f"{part.name}: {'ok' if figures['ok'] else 'not ok'}, {time.monotonic() - began:.0f} s")
    return figures | {"took_s": round(time.monotonic() - began)}


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="recipes, instead of all")
    only = parser.parse_args().only
    KEPT.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(dir=KEPT, ignore_cleanup_errors=True) as folder,
        clean_clone(_opened(Path(folder))) as clone,
    ):
        clone_s = round(time.monotonic() - began)
        found = {part.name: run(part, clone) for part in PARTS if not only or part.name in only}
    passed = [name for name, figures in found.items() if figures["ok"]]
    figures = {"clone_s": clone_s, "took_s": round(time.monotonic() - began), "passed": len(passed)}
    figures["passed_target"] = len(found)
    conclude({"ok": bool(found) and len(passed) == len(found)} | figures | {"parts": found})


if __name__ == "__main__":
    main()
