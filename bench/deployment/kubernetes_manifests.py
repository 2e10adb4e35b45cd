"""Render deploy/kubernetes, check it against the schemas of Kubernetes and by checkov; prints one JSON object."""

import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from bench.lib.product import ROOT, conclude, concluding, say
from testkit.manifests import FOLDER, OVERLAYS, has_kubectl, read_manifests, render

TOOLS = ROOT / ".kubernetes-venv" / "bin"
VERSIONS = ("1.30", "1.37")
"""The oldest Kubernetes whose fields are used (a pause before a stop), and the newest that the schemas know."""
WITHOUT_SCHEMA = "Couldn't find schema for kind Cluster with api version postgresql.cnpg.io/v1 "
"""CloudNativePG's own: its schema is not among those of Kubernetes."""


def invalid_manifests(file: Path, version: str) -> list[str]:
    """What this version of Kubernetes would refuse, unknown fields and kinds included."""
    command = [str(TOOLS / "kubernetes-validate"), "--kubernetes-version", version, "--strict", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = (done.stdout + done.stderr).splitlines()
    return [line for line in lines if not line.startswith("INFO") and WITHOUT_SCHEMA not in line]


def checkov_summary(file: Path) -> dict[str, Any]:
    """Passed, failed and skipped checks; nothing is asked of anybody."""
    command = [str(TOOLS / "checkov"), "--file", str(file), "--framework", "kubernetes"]
    command += ["--config-file", str(FOLDER / "checkov.yaml")]
    done = subprocess.run([*command, "--output", "json"], capture_output=True, text=True, check=False)
    try:
        report: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise RuntimeError(f"checkov failed: {done.stderr.strip()[-400:]}") from None
    for check in report["results"]["failed_checks"]:
        say(f"{check['check_id']} {check['resource']}: {check['check_name']}")
    return {name: report["summary"][name] for name in ("passed", "failed", "skipped", "parsing_errors")}


@concluding
def main() -> None:
    if not has_kubectl():
        say("kubectl is not installed: kubernetes.io/docs/tasks/tools has it. Debian 12's is too old (1.20).")
        conclude({"ok": False, "reason": "no kubectl"})
    figures: dict[str, Any] = {"ok": True, "invalid_target": 0, "failed_target": 0}
    with tempfile.TemporaryDirectory() as folder:
        for overlay in OVERLAYS:
            text = render(overlay)
            rendered = Path(folder) / f"{overlay}.yaml"
            rendered.write_text(text)
            invalid = [line for version in VERSIONS for line in invalid_manifests(rendered, version)]
            for line in invalid:
                say(line)
            checked = checkov_summary(rendered)
            figures[overlay] = {"manifests": len(read_manifests(text)), "invalid": len(invalid)} | checked
            faults = len(invalid) + checked["failed"] + checked["parsing_errors"]
            figures["ok"] &= faults == 0 and checked["passed"] > 0
    conclude(figures)


if __name__ == "__main__":
    main()
