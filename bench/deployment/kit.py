"""Everything that people install, built and checked by its own recipes, one after another; their figures together."""

import argparse
import json
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from typing import Any

from bench.lib.product import ROOT, conclude, concluding, say

IMAGE = "{folder}"
"""Where `image` leaves what `compose` starts from."""


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
    Part(("monitoring",), ("promtool",)),
    Part(("kubernetes",), ("kubectl",)),
    Part(("kubernetes-play",), ("kubectl",)),
    Part(("cell-units",), ("systemd-analyze", "etcd")),
    Part(("agent-install",), ("mmdebstrap",)),
    Part(("upgrade-drill",)),
    Part(("restore-drill", "--visits", "50000", "--pages", "60"), ("pgbackrest",)),
    Part(("image", "--folder", IMAGE), ("buildah", "debootstrap", "podman")),
    Part(("compose", "--folder", IMAGE), ("buildah", "debootstrap", "podman")),
)


def run(part: Part, folder: str) -> dict[str, Any]:
    """The last line of its recipe, or why it did not run."""
    if missing := [program for program in part.needs if not shutil.which(program)]:
        return {"ok": False, "reason": f"not installed: {', '.join(missing)}"}
    command = ["just", *(word.format(folder=folder) for word in part.recipe)]
    say(f"--- {' '.join(command)}")
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    try:
        figures: dict[str, Any] = json.loads(lines[-1])
    except (IndexError, ValueError):
        figures = {"ok": False, "reason": f"ended with {done.returncode} and no figures"}
    return figures | {"took_s": round(time.monotonic() - began)}


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="*", help="recipes, instead of all")
    only = parser.parse_args().only
    with tempfile.TemporaryDirectory(prefix="onlooker-kit-") as folder:
        found = {part.name: run(part, folder) for part in PARTS if not only or part.name in only}
    for name, figures in found.items():
        say(f"{name}: {'ok' if figures['ok'] else 'not ok'}, {figures.get('took_s', 0)} s")
    conclude({"ok": bool(found) and all(figures["ok"] for figures in found.values()), "parts": found})


if __name__ == "__main__":
    main()
