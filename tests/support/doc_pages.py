"""What the tests of the documentation read: the tree, its pages, the results and commands on them."""

import json
import re
import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from onlooker_pipeline.catalogue import SERVICES

ROOT = Path(__file__).resolve().parents[2]
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


def result_in(name: str) -> dict[str, Any]:
    """The result that a service's page shows."""
    text = (ROOT / f"docs/services/{name}.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- result -->\n```json\n(.*?)```\n<!-- /result -->", text, re.DOTALL)
    assert shown, "The page has no result between its markers. Run: just docs-pictures"
    result: dict[str, Any] = json.loads(shown[1])
    return result


def blocks_in(text: str, language: str = "sh") -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
