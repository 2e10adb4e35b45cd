"""`python -m building`: from pinned packages to a checked wheel; the last line is one JSON object."""

import argparse
import json
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from building.assembly import MODELS, build_files
from building.checksums import compute_checksums, differing_files, format_checksums, read_checksums
from building.fetching import FetchError, fetch_sources
from building.parity import TOLERANCE, Parity, compare_batch, compare_with_reference
from building.pins import read_pins, sha256_of
from building.wheel import WheelError, build_wheel, check_wheel

PROJECT = Path(__file__).resolve().parent.parent
BUILD, DIST = PROJECT / "build", PROJECT / "dist"
CHECKSUMS = PROJECT / "SHA256SUMS"


@dataclass(frozen=True)
class Outcome:
    """What a run of the builder found."""

    wheel: Path
    same_files: bool
    same_wheel: bool
    differing: list[str]
    parity: dict[str, Parity]
    batches: dict[str, Parity]
    tests_passed: bool

    @property
    def ok(self) -> bool:
        held = all(parity.holds for parity in (*self.parity.values(), *self.batches.values()))
        return self.same_files and self.same_wheel and not self.differing and held and self.tests_passed


def main() -> int:
    parser = argparse.ArgumentParser(prog="just models", description=__doc__)
    parser.add_argument("--write-checksums", action="store_true", help="accept the built bytes as the reviewed ones")
    arguments = parser.parse_args()
    try:
        outcome = build(fetch_sources(read_pins(), BUILD), write_checksums=arguments.write_checksums)
    except (FetchError, WheelError) as error:
        _say(str(error))
        print(json.dumps({"ok": False, "error": str(error).partition("\n")[0]}))
        return 1
    if outcome.ok:  # what is in dist gets installed
        shutil.rmtree(DIST, ignore_errors=True)
        DIST.mkdir()
        shutil.copy(outcome.wheel, DIST)
    print(json.dumps(report(outcome)))
    return 0 if outcome.ok else 1


def build(sources: dict[str, Path], *, write_checksums: bool) -> Outcome:
    first, second = (_build_once(sources, BUILD / name) for name in ("first", "second"))
    built = compute_checksums(first.data)
    if write_checksums:
        CHECKSUMS.write_text(format_checksums(built), encoding="utf-8")
    differing = differing_files(built, read_checksums(CHECKSUMS))
    if differing:
        _say(
            f"{', '.join(differing)}: other bytes than {CHECKSUMS.name} has. Is .models-venv as requirements/models.txt"
        )
        _say("says? If you changed the builder on purpose and parity holds, run `just models --write-checksums`.")
    parity, batches = _compare(first.data)
    check_wheel(first.wheel, first.data, PROJECT)
    return Outcome(
        wheel=first.wheel,
        same_files=built == compute_checksums(second.data),
        same_wheel=sha256_of(first.wheel) == sha256_of(second.wheel),
        differing=differing,
        parity=parity,
        batches=batches,
        tests_passed=_run_tests(),
    )


@dataclass(frozen=True)
class _Build:
    data: Path
    wheel: Path


def _build_once(sources: dict[str, Path], folder: Path) -> _Build:
    _say(f"building in {folder.relative_to(PROJECT)}")
    shutil.rmtree(folder, ignore_errors=True)
    build_files(sources, folder / "data")
    return _Build(folder / "data", build_wheel(PROJECT, folder / "data", folder / "wheel"))


def _compare(data: Path) -> tuple[dict[str, Parity], dict[str, Parity]]:
    parity, batches = {}, {}
    for name in MODELS:
        reference = PROJECT / "references" / f"{Path(name).stem}.json"
        parity[name] = compare_with_reference(data / name, reference)
        _say(f"{name}: {parity[name].worst_ratio:.1e} of the range from its original runtime, {TOLERANCE:.0e} allowed")
        if (batch := compare_batch(data / name)) is not None:
            batches[name] = batch
    return parity, batches


def _run_tests() -> bool:
    _say("running models/tests")
    return subprocess.run([sys.executable, "-m", "pytest", "--quiet"], cwd=PROJECT, check=False).returncode == 0


def report(outcome: Outcome) -> dict[str, Any]:
    return {
        "ok": outcome.ok,
        "wheel": outcome.wheel.name,
        "sha256": sha256_of(outcome.wheel),
        "bytes": outcome.wheel.stat().st_size,
        "reproducible": {"files": outcome.same_files, "wheel": outcome.same_wheel, "target": True},
        "files_differing_from_checksums": outcome.differing,
        "parity_worst_ratio": {name: float(f"{one.worst_ratio:.2g}") for name, one in outcome.parity.items()},
        "batch_worst_ratio": {name: float(f"{one.worst_ratio:.2g}") for name, one in outcome.batches.items()},
        "ratio_target": TOLERANCE,
        "tests_passed": outcome.tests_passed,
    }


def _say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
