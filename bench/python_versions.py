"""The pure tests on each Python that we promise and this machine has; those of the client alone on older ones."""

import ast
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.lib.product import ROOT, conclude, concluding, say
from testkit.interpreters import find_interpreter

OF_ALL = ("3.11", "3.12", "3.13")
OF_CLIENT = ("3.9", "3.10")
ENVIRONMENTS = ROOT / ".pythons"
LIMIT_S = 900
CLIENT_TESTS = ROOT / "client" / "tests"
UNIT = ("tests/unit", "client/tests/unit", "pipeline/tests/unit")
IMPORTED_ALONE = {"cv2", "hypothesis", "numpy", "onlooker_client", "pytest"}
NEEDS_PRODUCT = re.compile(r"\b(product|stream|client): \w+")


@dataclass(frozen=True)
class VersionRun:
    """How the tests ended on one Python."""

    python: str
    passed: int
    failed: int
    skipped: int
    seconds: float
    ok: bool


@concluding
def main() -> None:
    asked = sys.argv[1:] or [*OF_CLIENT, *OF_ALL]
    if unknown := set(asked) - {*OF_CLIENT, *OF_ALL}:
        raise ValueError(f"{', '.join(sorted(unknown))}: not among {', '.join((*OF_CLIENT, *OF_ALL))}")
    runs: dict[str, VersionRun] = {}
    missing = []
    for version in asked:
        python = find_interpreter(version)
        if python is None:
            say(f"Python {version}: none on the PATH, with pyenv or with uv. `uv python install {version}` gets one.")
            missing.append(version)
            continue
        runs[version] = try_client(version, python) if version in OF_CLIENT else try_all(version, python)
        say(f"Python {version}: {runs[version]}")
    conclude(
        {
            "ok": bool(runs) and all(run.ok for run in runs.values()),
            "runs": {version: asdict(run) for version, run in runs.items()},
            "not_found": missing,
        }
    )


def try_all(version: str, python: Path) -> VersionRun:
    """What `just unit` runs."""
    environment = make_environment(version, python, "dev.txt")
    ours = [argument for name in ("pipeline", "server", "client") for argument in ("--editable", str(ROOT / name))]
    models = [str(path) for path in sorted((ROOT / "models" / "dist").glob("*.whl"))[-1:]]
    _uv("pip", "install", "--python", str(environment), "--no-deps", "--no-build-isolation", *ours, *models)
    options = ["-n", "2", "--dist", "loadgroup", "-p", "no:cacheprovider", *UNIT]
    return run_tests(environment, options, {})


def try_client(version: str, python: Path) -> VersionRun:
    """The client's tests that need neither a server nor a library of the server, on the client's own pins."""
    environment = make_environment(version, python, "client-tests.txt")
    _uv("pip", "install", "--python", str(environment), "--no-deps", str(ROOT / "client"))
    options = ["--noconftest", "-c", os.devnull, "--rootdir", str(CLIENT_TESTS), "-p", "no:cacheprovider"]
    options += ["-W", "error", "-o", f"pythonpath={CLIENT_TESTS / 'support'}", "-o", "timeout=180"]
    with tempfile.TemporaryDirectory() as config:
        return run_tests(environment, [*options, *map(str, client_tests())], {"XDG_CONFIG_HOME": config})


def client_tests() -> list[Path]:
    support = {path.stem for path in (CLIENT_TESTS / "support").glob("*.py") if _stands_alone(path, set())}
    return [path for path in sorted(CLIENT_TESTS.rglob("test_*.py")) if _stands_alone(path, support)]


def make_environment(version: str, python: Path, pins: str) -> Path:
    folder = ENVIRONMENTS / version
    _uv("venv", "--allow-existing", "--python", str(python), str(folder))
    environment = folder / "bin" / "python"
    _uv("pip", "sync", "--python", str(environment), "--require-hashes", str(ROOT / "requirements" / pins))
    return environment


def run_tests(python: Path, options: list[str], variables: dict[str, str]) -> VersionRun:
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"} | variables
    environment["PATH"] = f"{python.parent}{os.pathsep}{environment['PATH']}"
    began = time.monotonic()
    command = [str(python), "-m", "pytest", "-q", *options]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    counts = {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|error|skipped)", done.stdout)}
    if done.returncode:
        say(f"{done.stdout[-6000:]}{done.stderr[-2000:]}")
    say_version = "import platform; print(platform.python_version())"
    full = subprocess.run([python, "-c", say_version], capture_output=True, text=True, check=True).stdout.strip()
    return VersionRun(
        python=full,
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0) + counts.get("error", 0),
        skipped=counts.get("skipped", 0),
        seconds=round(time.monotonic() - began, 1),
        ok=done.returncode == 0 and counts.get("passed", 0) > 0,
    )


def _stands_alone(path: Path, support: set[str]) -> bool:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    allowed = IMPORTED_ALONE | support | sys.stdlib_module_names
    return {name.partition(".")[0] for name in imported} <= allowed and not NEEDS_PRODUCT.search(text)


def _uv(*arguments: str) -> None:
    subprocess.run(["uv", *arguments, "--quiet"], stdout=sys.stderr, check=True)


if __name__ == "__main__":
    main()
