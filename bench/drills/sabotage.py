"""`just sabotage`: breaks the product on purpose, once for each drill, and sees that the drill fails."""

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.drills.recipes import read_drills, read_recipes
from bench.lib.product import ROOT, conclude, concluding, say

TABLE = Path(__file__).with_name("sabotage.toml")
KEPT = ROOT / "var" / "sabotage"
"""Not /tmp, which services with a folder of their own there don't see."""
MADE = (
    "models/dist",
    "server/src/onlooker/console/agent/packages",
    "server/src/onlooker/console/documentation/site",
    "deploy/grafana/schema/typed",
    *(f"{folder}/node_modules" for folder in ("bench/lib/browser", "bench/lib/identity_provider")),
    *(f"{folder}/node_modules" for folder in ("server/style", "server/charts", "deploy/grafana/schema")),
)
"""What is built and installed beside the source; a clone has none of it."""
OF_THE_CALLER = ("PYTHONPATH", "VIRTUAL_ENV", "TEST_DATABASE_URL")


@dataclass(frozen=True)
class Sabotage:
    """One line that is changed, and the drill that must notice."""

    drill: str
    file: str
    old: str
    new: str
    why: str

    def apply(self, root: Path) -> None:
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise ValueError(f"{self.drill}: {self.file} has its text {text.count(self.old)} times, not once")
        path.write_text(text.replace(self.old, self.new), encoding="utf-8")


def read_sabotages() -> list[Sabotage]:
    return [Sabotage(**one) for one in tomllib.loads(TABLE.read_text(encoding="utf-8"))["sabotage"]]


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(prog="just sabotage", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="drills, instead of all")
    parser.add_argument("--control", action="store_true", help="first see that each drill passes without its sabotage")
    asked = parser.parse_args()
    sabotages = [one for one in read_sabotages() if not asked.names or one.drill in asked.names]
    if strange := set(asked.names) - {one.drill for one in sabotages}:
        raise ValueError(f"No sabotage is for {', '.join(sorted(strange))}.")
    before = {one.name: [one.after] if one.after else [] for one in read_drills(read_recipes())}
    noticed: list[str] = []
    missed: list[str] = []
    unclear: list[str] = []
    with clone_of_head() as clone:
        for one in sabotages:
            began = time.monotonic()
            names = [*before[one.drill], one.drill]
            if asked.control and not run_drills(clone, names)["ok"]:
                unclear.append(one.drill)
                say(f"{one.drill}: fails without a sabotage, too")
                continue
            one.apply(clone)
            commit(clone, one.why)
            ended = run_drills(clone, names)
            git(clone, "reset", "--quiet", "--hard", "HEAD~1")
            if ended["left_out"]:
                verdicts, words = unclear, "left out"
            elif one.drill in ended["failed"]:
                verdicts, words = noticed, "noticed"
            else:
                verdicts, words = missed, "NOT NOTICED"
            verdicts.append(one.drill)
            say(f"{one.drill}: {words}, {time.monotonic() - began:.0f} s ({one.why})")
    conclude(
        {
            "ok": bool(sabotages) and len(noticed) == len(sabotages),
            "sabotages": len(sabotages),
            "noticed": len(noticed),
            "not_noticed": missed,
            "unclear": unclear,
        }
    )


@contextmanager
def clone_of_head() -> Iterator[Path]:
    """HEAD in a folder of its own, with a copy of our environment whose editable packages are the clone's."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KEPT, ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)  # services run as users of their own, who must get to their files
        clone = folder / "onlooker"
        subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        if (shared := ROOT.parent / "shared").is_dir():
            (folder / "shared").symlink_to(shared)
        for made in (*MADE, ".venv"):
            if (ROOT / made).exists():
                (clone / made).parent.mkdir(parents=True, exist_ok=True)
                shutil.rmtree(clone / made, ignore_errors=True)
                shutil.copytree(ROOT / made, clone / made, symlinks=True, copy_function=_link)
        redirect(clone / ".venv", clone)
        yield clone


def redirect(environment: Path, clone: Path) -> None:
    """Scripts and editable packages of the copied environment lead into the clone; our own files stay as they are."""
    ours, theirs = str(ROOT).encode(), str(clone).encode()
    candidates = [environment / "pyvenv.cfg", *(environment / "bin").iterdir()]
    candidates += [
        path
        for ending in ("*.pth", "*.dist-info/direct_url.json", "__editable__*.py")
        for path in environment.glob(f"lib/*/site-packages/{ending}")
    ]
    for path in candidates:
        if path.is_file() and not path.is_symlink() and ours in (content := path.read_bytes()):
            if b"\0" in content[:1024]:
                continue
            mode = path.stat().st_mode
            path.unlink()  # it is a hard link to ours
            path.write_bytes(content.replace(ours, theirs))
            path.chmod(mode)


def run_drills(clone: Path, names: Sequence[str]) -> dict[str, Any]:
    """The last line of a run there: of one drill, after the one whose files it needs."""
    environment = {name: value for name, value in os.environ.items() if name not in OF_THE_CALLER}
    programs = str(clone / ".venv" / "bin")
    environment["PATH"] = os.pathsep.join((programs, environment["PATH"]))
    command = [f"{programs}/python", "-m", "bench.drills", *names]
    done = subprocess.run(command, cwd=clone, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    lines = done.stdout.strip().splitlines()
    if not lines:
        raise RuntimeError(f"{names[-1]}: the run ended with {done.returncode} and without a last line")
    keep_log(names[-1], lines)
    ended: dict[str, Any] = json.loads(lines[-1])
    return ended


def keep_log(drill: str, lines: Sequence[str]) -> None:
    """Why it failed, for a person who looks whether that is the reason meant."""
    name = "".join(letter if letter.isalnum() else "-" for letter in drill)
    (KEPT / f"{name}.log").write_text("\n".join(lines) + "\n", encoding="utf-8")


def commit(clone: Path, message: str) -> None:
    """What is released is a commit."""
    git(clone, "-c", "user.name=sabotage", "-c", "user.email=sabotage@example.org", "commit", "-qam", message)


def git(clone: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=clone, check=True)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:  # another file system
        shutil.copy2(source, target, follow_symlinks=False)


if __name__ == "__main__":
    main()
