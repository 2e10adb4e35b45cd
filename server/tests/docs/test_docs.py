"""The documentation is complete, its links resolve, and the README's commands run."""

import importlib.util
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pytest

from onlooker.catalogue import SERVICES
from onlooker.compute.motion import targets
from onlooker.compute.services import age_and_gender_estimation, face_expression_estimation
from onlooker.compute.sound import sources
from onlooker.compute.vision import decoding, faces, headers
from onlooker.compute.vision.head import Camera, Direction
from onlooker.compute.vision.looking import LIMIT_RADIANS, judge_looking
from onlooker.errors import Code
from onlooker.gateway.routes import ROUTES
from onlooker.settings import describe_settings
from onlooker.testing import free_ports, fresh_database

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "docs/reference"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INSTALLATION = (
    *("sudo ", "createdb ", "git clone ", "cd onlooker", "python3 -m venv ", "var/tools/bin/pip "),
    *('PATH="$PWD/var/tools/bin:$PATH" just init', 'PATH="$PWD/var/tools/bin:$PATH" just models'),
)
"""How lines begin that install packages or make what the test makes itself."""
COMPUTED = [service.name for service in SERVICES if service.name != "dummy" and find_spec(service.implementation)]
"""The services that need a page; `dummy` is explained by the README."""


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


def result_in(name: str) -> dict[str, Any]:
    """The result that a service's page shows."""
    text = (ROOT / f"docs/services/{name}.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- result -->\n```json\n(.*?)```\n<!-- /result -->", text, re.DOTALL)
    assert shown, "The page has no result between its markers. Run: just docs-pictures"
    result: dict[str, Any] = json.loads(shown[1])
    return result


@pytest.mark.parametrize("name", COMPUTED)
def test_every_service_that_computes_has_a_page_with_a_result_and_a_picture(name: str) -> None:
    page = ROOT / f"docs/services/{name}.md"
    text = page.read_text(encoding="utf-8")
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads == ["Request", "Result", "With a session", "Cost", "Accuracy", "Limits"]
    pictures = [path for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text) if Path(path).stem == name]
    assert [path for path in pictures if (page.parent / path).is_file()], "no picture. Run: just docs-pictures"
    assert f"({name}.md)" in (ROOT / "docs/services/README.md").read_text(encoding="utf-8")
    described = next(service for service in SERVICES if service.name == name)
    assert set(result_in(name)) == set(described.result)


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        *((name, f"Below {faces.CONFIDENCE_AT_LEAST} a face") for name in COMPUTED if "faces" in result_in(name)),
        ("face_expression_estimation", f"about its last {face_expression_estimation.READINGS} pictures."),
        ("age_and_gender_estimation", f"about the last {age_and_gender_estimation.READINGS} pictures of a face."),
        ("motion_detection", f"At most {targets.TARGET_LIMIT} targets are reported."),
        ("sound_localization", f"At most {sources.SOURCE_LIMIT} sources are reported."),
        ("README", f"At most {decoding.PIXEL_LIMIT // 10**6} megapixels"),
        ("README", f"A progressive JPEG may have {headers.SCAN_LIMIT} scans"),
    ],
)
def test_a_page_says_what_the_code_does(page: str, sentence: str) -> None:
    assert sentence in (ROOT / f"docs/services/{page}.md").read_text(encoding="utf-8")


def test_the_rule_for_looking_on_the_page_is_the_one_that_is_measured() -> None:
    text = (ROOT / "docs/services/gaze_analysis.md").read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    exec(text.partition("```python\n")[2].partition("```\n")[0], names)
    x, y, size = 500, 60, (480, 640)
    towards_camera = Direction.of_vector(-Camera.of_picture(640, 480).ray(x + 20, y + 20))
    for angles in product([k / 20 for k in range(-12, 13, 4)], repeat=4):
        head, gaze = Direction(*angles[:2]), Direction(*angles[2:])
        judged = judge_looking(head, gaze, towards_camera=towards_camera, face_px=40)
        face = dict(zip(("head_yaw", "head_pitch", "gaze_yaw", "gaze_pitch"), angles, strict=True))
        # The page is for reading: it takes angles as if they lay in a plane, so verdicts near the limit may differ.
        if abs(judged.angle_radians - LIMIT_RADIANS) > math.radians(2):
            assert names["looks_at_camera"](face | {"roi": [x, y, 40, 40]}, size) == judged.at_camera, angles


def test_pictures_are_small_and_say_where_they_come_from() -> None:
    folder = ROOT / "docs/pictures"
    said = (folder / "README.md").read_text(encoding="utf-8")
    pictures = [path for path in folder.iterdir() if path.suffix != ".md"]
    assert [path.name for path in pictures if path.stat().st_size > 80_000] == []
    assert [path.name for path in pictures if f"`{path.name}`" not in said] == []


def blocks_in(text: str) -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def start_blocks() -> list[str]:
    """The shell blocks of the README's start, without the lines that install."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    start = text.partition("\n## Five-minute start\n")[2].partition("\n## ")[0]
    lines = [block.splitlines() for block in blocks_in(start)]
    for beginning in INSTALLATION:
        assert any(line.startswith(beginning) for block in lines for line in block), beginning
    kept = [[line for line in block if not line.startswith(INSTALLATION)] for block in lines]
    return ["\n".join(block) for block in kept if block]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What is printed by the commands of the README, the quickstart and the pages of services, by page."""
    for program in ("curl", "bash"):
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")
    folder = tmp_path_factory.mktemp("start")
    first, *second = start_blocks()
    assert first.endswith("onlooker up")
    others = [ROOT / "docs/quickstart.md", *(ROOT / f"docs/services/{name}.md" for name in COMPUTED)]
    script = ["echo '=== README'", *second]
    for page in others:
        script += [f"echo '=== {page.stem}'", *blocks_in(page.read_text(encoding="utf-8"))]
    project = copy_of_project(folder / "onlooker")
    with fresh_database() as database_url:
        environment = environment_of(folder / "home", database_url)
        opened = [Terminal(project, environment, folder / "up.log").start(first)]
        try:
            await_ready(opened[0], folder / "up.log")
            opened.append(Terminal(project, environment, folder / "second.log").start("\n".join(script)))
            done = opened[1].wait(120)
        finally:
            for terminal in reversed(opened):
                if terminal.poll() is None:
                    os.killpg(terminal.pid, signal.SIGTERM)
                terminal.wait(20)
    printed = (folder / "second.log").read_text(encoding="utf-8")
    assert done == 0, printed[-4000:]
    parts = printed.split("=== ")[1:]
    return {name: text for name, _, text in (part.partition("\n") for part in parts)}


def copy_of_project(project: Path) -> Path:
    for path in tree():
        copy = project / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)
    (project / ".venv").symlink_to(sys.prefix)
    return project


def environment_of(home: Path, database_url: str) -> dict[str, str]:
    https_port, http_port, nats_port, monitoring_port = free_ports(7)[:4]
    return {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ} | {
        "HOME": str(home),
        "ONLOOKER_DATABASE_URL": database_url,
        "ONLOOKER_HTTPS_HOST": "127.0.0.1",
        "ONLOOKER_HTTPS_PORT": str(https_port),
        "ONLOOKER_HTTP_PORT": str(http_port),
        "ONLOOKER_NATS_URL": f"nats://127.0.0.1:{nats_port}",
        "ONLOOKER_MONITORING_PORT": str(monitoring_port),
        "ONLOOKER_PUBLIC_URL": f"https://localhost:{https_port}",
    }


@dataclass(frozen=True)
class Terminal:
    """Runs what a reader would type, and keeps what is printed."""

    folder: Path
    environment: dict[str, str]
    log: Path

    def start(self, script: str) -> subprocess.Popen[bytes]:
        script = script.replace("https://localhost:8443", self.environment["ONLOOKER_PUBLIC_URL"])
        with self.log.open("wb") as output:
            return subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=self.folder,
                env=self.environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )


def await_ready(up: subprocess.Popen[bytes], log: Path) -> None:
    give_up_at = time.monotonic() + 30
    while "Ready." not in log.read_text():
        assert up.poll() is None, log.read_text()
        assert time.monotonic() < give_up_at, log.read_text()
        time.sleep(0.1)


def test_the_readme_start_runs_word_for_word(answers: dict[str, str]) -> None:
    printed = answers["README"]
    assert '"services":{"dummy"' in printed
    assert re.search(r'"status":201,.*"echo":"hello"', printed)
    assert '"status":202' in printed
    assert re.search(r'"status":200,.*"echo":"later"', printed)
    assert '"calls":1' in printed
    assert '"calls":2' in printed
    assert re.search(r'"nb_faces":1,.*"age":.*"gender":"female"', printed)


def test_the_quickstart_runs_word_for_word(answers: dict[str, str]) -> None:
    printed = answers["quickstart"]
    assert '"live":true' in printed
    assert '"error_code":"bad_image"' in printed
    assert re.findall(r'"nb_faces":(\d)', printed) == ["1", "0", "0", "0", "1"]
    assert "same bytes" in printed
    assert '{"frames":1,"status":200}' in printed
    assert '"echo": "one"' in printed
    assert '{"frames":4,"status":200}' in printed
    assert re.findall(r'"nb_faces": (\d)', printed) == ["0", "0", "0", "1"]


@pytest.mark.parametrize("name", COMPUTED)
def test_the_request_on_a_page_is_answered_with_the_result_on_it(name: str, answers: dict[str, str]) -> None:
    last = json.loads(answers[name].splitlines()[-1])
    assert last["status"] == 201
    shown = result_in(name)
    answered, expected = (dict(values_in(result)) for result in ({key: last.get(key) for key in shown}, shown))
    words = {where: value for where, value in expected.items() if isinstance(value, str)}
    assert {where: answered.get(where) for where in words} == words
    numbers = {where: value for where, value in expected.items() if where not in words}
    # Another processor rounds a little differently; another model or picture is far off.
    assert {where: answered.get(where) for where in numbers} == pytest.approx(numbers, rel=0.03, abs=0.03)


def values_in(value: Any, where: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a result and its path."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from values_in(inner, f"{where}/{key}")
    else:
        yield where, value
