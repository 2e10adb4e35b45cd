"""The bill of materials (CycloneDX) of what a server installs, each part with its licence."""

import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deploy.release.licences import Component, conclude_licence, refused_identifiers
from deploy.release.source_tree import ROOT, ReleaseError

TOOLS = ROOT / ".release-venv" / "bin"
SPEC_VERSION = "1.6"
SCRIPTS_SHIPPED = {"server/charts": ("echarts", "tslib", "zrender"), "server/style": ("@picocss/pico",)}
"""What our bundles and stylesheets contain, by the folder whose lock file has its version."""
VALIDATE = """
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
fault = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1], encoding="utf-8").read())
sys.exit(str(fault) if fault else 0)
"""


@dataclass(frozen=True)
class Licences:
    """How many parts are under each expression, and which stand in the way of a release."""

    counts: dict[str, int]
    unknown: list[str]
    refused: list[str]

    @property
    def ok(self) -> bool:
        return not self.unknown and not self.refused


def write_bill(python: Path, tree: Path, file: Path) -> Licences:
    """Of the packages that an interpreter's environment has, and of what our own package carries in its files."""
    command = [str(TOOLS / "cyclonedx-py"), "environment", "--output-reproducible", "--spec-version", SPEC_VERSION]
    command += ["--pyproject", str(tree / "server" / "pyproject.toml"), "--of", "JSON", "-o", str(file), str(python)]
    _run(command)
    bill = json.loads(file.read_text(encoding="utf-8"))
    bill["components"] = sorted([*bill["components"], *_scripts(tree)], key=lambda part: str(part["name"]))
    licences = settle_licences(bill["components"])
    file.write_text(json.dumps(bill, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    _run([str(TOOLS / "python"), "-c", VALIDATE, str(file)])
    return licences


def settle_licences(components: list[Component]) -> Licences:
    """Gives each part one expression, and judges it."""
    counts: Counter[str] = Counter()
    unknown, refused = [], []
    for part in components:
        label = f"{part['name']} {part.get('version', '')}".strip()
        expression = conclude_licence(part)
        if expression is None:
            unknown.append(f"{label}: {json.dumps(part.get('licenses', []))}")
            continue
        part["licenses"] = [{"expression": expression, "acknowledgement": "concluded"}]
        counts[expression] += 1
        if identifiers := refused_identifiers(expression):
            refused.append(f"{label}: {', '.join(sorted(identifiers))}")
    return Licences(dict(counts.most_common()), unknown, refused)


def _scripts(tree: Path) -> list[Component]:
    parts: list[Component] = []
    for folder, names in SCRIPTS_SHIPPED.items():
        locked: dict[str, Any] = json.loads((tree / folder / "package-lock.json").read_text(encoding="utf-8"))
        for name in names:
            package = locked["packages"][f"node_modules/{name}"]
            reference = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
            parts.append(
                {
                    "type": "library",
                    "name": name,
                    "version": package["version"],
                    "purl": reference,
                    "bom-ref": reference,
                    "licenses": [{"license": {"id": package["license"]}}],
                }
            )
    return parts


def _run(command: list[str]) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{Path(command[0]).name} failed:\n{done.stdout}{done.stderr}".strip())
