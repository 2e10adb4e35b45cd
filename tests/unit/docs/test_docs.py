"""The documentation is complete, and its links resolve."""

import math
import re
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from doc_pages import COMPUTED, ROOT, pages, result_in
from onlooker.errors import Code
from onlooker.gateway.routes import ROUTES
from onlooker.settings import describe_settings
from onlooker_client.agent.frame_counts import Drop
from onlooker_pipeline.catalogue import SERVICES
from onlooker_pipeline.motion import targets
from onlooker_pipeline.services import age_and_gender_estimation, face_expression_estimation
from onlooker_pipeline.sound import sources
from onlooker_pipeline.vision import faces, picture
from onlooker_pipeline.vision.eye_contact import LIMIT_RADIANS, judge_eye_contact
from onlooker_pipeline.vision.head_pose import Camera, Direction

REFERENCE = ROOT / "docs/reference"
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("settings.md", [name for name, _, _ in describe_settings()]),
        ("routes.md", [f"{row.method} | `{row.path}`" for row in ROUTES]),
        ("services.md", [f"## {service.name}, version {service.version}" for service in SERVICES]),
        ("errors.md", [f"`{code}`" for code in Code]),
        ("client.md", [f"| `{drop.value}` |" for drop in Drop]),
    ],
)
def test_the_reference_names_everything(page: str, words: list[str]) -> None:
    text = (REFERENCE / page).read_text(encoding="utf-8")
    assert [word for word in words if word not in text] == []


def test_contributors_find_every_recipe() -> None:
    files = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in ("justfile", "drills.just"))
    recipes = re.findall(r"^([a-z][\w-]*)(?: [^\n:]*)?:(?!=)", files, re.MULTILINE)
    private = {"default", "install-models", "container-tools", "visible-programs"}
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [name for name in recipes if name not in private and f"| `just {name}" not in text] == []


def anchors_of(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def broken_links(path: Path) -> list[str]:
    broken = []
    for target in LINK.findall(FENCE.sub("", path.read_text(encoding="utf-8"))):
        url = urlsplit(target)
        if url.scheme or url.path.startswith("/"):  # a route of the console, which the tests of the site resolve
            continue
        found = (path.parent / url.path).resolve() if url.path else path
        if not found.exists() or (url.fragment and url.fragment not in anchors_of(found)):
            broken.append(target)
    return broken


def test_all_relative_links_resolve() -> None:
    broken = {str(path.relative_to(ROOT)): links for path in pages() if (links := broken_links(path))}
    assert broken == {}


def test_every_folder_and_file_that_the_architecture_names_is_there() -> None:
    """In its tables; paths are relative to the repository, to a package, or to the console."""
    bases = (
        "",
        "server/src/onlooker",
        "server/src/onlooker/console",
        "client/src/onlooker_client",
        "pipeline/src/onlooker_pipeline",
    )
    lines = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    named = {path for line in lines if line.startswith("|") for path in re.findall(r"`([\w./-]+(?:/|\.py))`", line)}
    assert len(named) > 100
    assert sorted(path for path in named if not any((ROOT / base / path).exists() for base in bases)) == []


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


@pytest.mark.parametrize("name", COMPUTED)
def test_every_service_that_computes_has_a_page_with_a_result_and_a_picture(name: str) -> None:
    page = ROOT / f"docs/services/{name}.md"
    text = page.read_text(encoding="utf-8")
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads == ["Request", "Result", "With a session", "Cost", "Accuracy", "Limits"], f"headings of {page.name}"
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
        ("README", f"At most {picture.PIXEL_LIMIT // 10**6} megapixels"),
        ("README", f"A progressive JPEG may have {picture.SCAN_LIMIT} scans"),
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
        judged = judge_eye_contact(head, gaze, towards_camera=towards_camera, face_px=40)
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
