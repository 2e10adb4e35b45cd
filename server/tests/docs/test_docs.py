"""The documentation is complete, its links resolve, and the README's commands run."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit

import pytest

from onlooker.catalogue import SERVICES
from onlooker.errors import Code
from onlooker.gateway.routes import ROUTES
from onlooker.settings import describe_settings
from onlooker.testing import free_ports, fresh_database

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "docs/reference"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INSTALLATION = ("sudo ", "createdb ", "git clone ", "cd onlooker", "python3 -m venv ", "var/tools/bin/pip ", "PATH=")
"""How lines begin that install packages or make what the test makes itself."""


def tree() -> list[Path]:
    """Every file that is tracked, or would be."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def pages() -> list[Path]:
    return [path for path in tree() if path.suffix == ".md"]


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date(generator: ModuleType) -> None:
    assert generator.run(["--check"]) is None


def test_an_unexplained_code_fails_the_build_and_names_the_remedy(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(generator.JOB_ERRORS, "time_limit")
    assert "time_limit. Add a line to JOB_ERRORS" in generator.run(["--check"])


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("settings.md", [name for name, _, _ in describe_settings()]),
        ("routes.md", [f"{row.method} | `{row.path}`" for row in ROUTES]),
        ("services.md", [f"## {service.name}, version {service.version}" for service in SERVICES]),
        ("errors.md", [f"`{code}`" for code in Code]),
    ],
)
def test_the_reference_names_everything(page: str, words: list[str]) -> None:
    text = (REFERENCE / page).read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []


def test_every_job_error_and_metric_is_documented(generator: ModuleType) -> None:
    errors = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    metrics = (REFERENCE / "metrics.md").read_text(encoding="utf-8")
    assert [code for code in generator.job_error_codes() if f"`{code}`" not in errors] == []
    assert [name for name in generator.all_metrics() if f"`{name}" not in metrics] == []


def anchors_of(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def broken_links(path: Path) -> list[str]:
    broken = []
    for target in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        url = urlsplit(target)
        if url.scheme:
            continue
        found = (path.parent / url.path).resolve() if url.path else path
        if not found.exists() or (url.fragment and url.fragment not in anchors_of(found)):
            broken.append(target)
    return broken


def test_all_relative_links_resolve() -> None:
    broken = {str(path.relative_to(ROOT)): links for path in pages() if (links := broken_links(path))}
    assert broken == {}


def test_every_page_of_the_documentation_can_be_reached_from_the_readme() -> None:
    reached, waiting = set[Path](), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = [urlsplit(target).path for target in LINK.findall(page.read_text(encoding="utf-8"))]
        waiting += [found for target in targets if target and (found := (page.parent / target).resolve()).is_file()]
    assert [str(path.relative_to(ROOT)) for path in pages() if path not in reached and "docs" in path.parts] == []


def start_blocks() -> list[str]:
    """The shell blocks of the README's start, without the lines that install."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.partition("\n## Five-minute start\n")[2].partition("\n## ")[0]
    lines = [block.splitlines() for block in re.findall(r"^```sh\n(.*?)^```$", start, re.MULTILINE | re.DOTALL)]
    for beginning in INSTALLATION:
        assert any(line.startswith(beginning) for block in lines for line in block), beginning
    kept = [[line for line in block if not line.startswith(INSTALLATION)] for block in lines]
    return ["\n".join(block) for block in kept if block]


def test_the_readme_start_runs_word_for_word(tmp_path: Path) -> None:
    for program in ("curl", "bash"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    first, *second = start_blocks()
    assert first.endswith("onlooker up")
    project = tmp_path / "onlooker"
    for path in tree():
        copy = project / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    (project / ".venv").symlink_to(sys.prefix)
    https_port, http_port, nats_port, monitoring_port = free_ports(7)[:4]
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
        "HOME": str(tmp_path / "home"),
        "ONLOOKER_HTTPS_HOST": "127.0.0.1",
        "ONLOOKER_HTTPS_PORT": str(https_port),
        "ONLOOKER_HTTP_PORT": str(http_port),
        "ONLOOKER_NATS_URL": f"nats://127.0.0.1:{nats_port}",
        "ONLOOKER_MONITORING_PORT": str(monitoring_port),
        "ONLOOKER_PUBLIC_URL": f"https://localhost:{https_port}",
    }
    with fresh_database() as database_url:
        environment["ONLOOKER_DATABASE_URL"] = database_url

        def terminal(script: str) -> list[str]:
            script = script.replace("https://localhost:8443", environment["ONLOOKER_PUBLIC_URL"])
            return ["bash", "-euo", "pipefail", "-c", script]

        log = tmp_path / "up.log"
        with log.open("wb") as output:
            up = subprocess.Popen(
                terminal(first),
                cwd=project,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            await_ready(up, log)
            answers = subprocess.run(
                terminal("\n".join(second)),
                cwd=project,
                env=environment,
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )
        finally:
            if up.poll() is None:
                os.killpg(up.pid, signal.SIGTERM)
            up.wait(20)
    assert answers.returncode == 0, answers.stderr
    assert '"services":{"dummy"' in answers.stdout
    assert re.search(r'"status":201,.*"echo":"hello"', answers.stdout)
    assert '"status":202' in answers.stdout
    assert re.search(r'"status":200,.*"echo":"later"', answers.stdout)
    assert '"calls":1' in answers.stdout
    assert '"calls":2' in answers.stdout


def await_ready(up: subprocess.Popen[bytes], log: Path) -> None:
    give_up_at = time.monotonic() + 30
    while "Ready." not in log.read_text():
        assert up.poll() is None, log.read_text()
        assert time.monotonic() < give_up_at, log.read_text()
        time.sleep(0.1)
