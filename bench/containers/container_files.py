"""The files for containers by their own tools: hadolint, the compose specification's schema, HAProxy."""

import itertools
import json
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.containers.engine import IMAGE, TOOLS
from bench.journeys.haproxy import find_haproxy
from bench.lib.product import ROOT, conclude, concluding, say
from onlooker.up.certificates import ensure_certificate

COMPOSE = ROOT / "deploy" / "compose"


def containerfile_findings() -> list[str]:
    """By hadolint."""
    command = [str(TOOLS / "hadolint"), "--no-fail", "--format", "json", str(IMAGE / "Containerfile")]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return [f"Containerfile:{one['line']}: {one['code']} {one['message']}" for one in json.loads(done.stdout)]


def compose_findings() -> list[str]:
    """By the JSON schema of the compose specification."""
    command = [str(TOOLS / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", "--output-format", "json"]
    done = subprocess.run(
        [*command, str(COMPOSE / "compose.yaml")], check=False, capture_output=True, text=True, timeout=60
    )
    said = json.loads(done.stdout)
    return [f"compose.yaml: {one}" for one in (*said.get("errors", ()), *said.get("parse_errors", ()))]


def proxy_findings() -> list[str]:
    """By HAProxy itself, with a certificate in the place of the secret; its names are those of containers."""
    with tempfile.TemporaryDirectory() as folder:
        chain, key = ensure_certificate(Path(folder), ["localhost"])
        both = Path(folder) / "both.pem"
        both.write_bytes(chain.read_bytes() + key.read_bytes())
        text = (COMPOSE / "haproxy.cfg").read_text(encoding="utf-8")
        configuration = Path(folder) / "haproxy.cfg"
        configuration.write_text(text.replace("/run/secrets/server.pem", str(both)), encoding="utf-8")
        command = [find_haproxy(), "-c", "-f", str(configuration)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    warnings = [line for line in done.stderr.splitlines() if "WARNING" in line or "ALERT" in line]
    return warnings or ([f"haproxy.cfg: {done.stderr}"] if done.returncode else [])


CHECKS: dict[str, Callable[[], list[str]]] = {
    "containerfile_findings": containerfile_findings,
    "compose_findings": compose_findings,
    "proxy_findings": proxy_findings,
}


@concluding
def main() -> None:
    found = {name: check() for name, check in CHECKS.items()}
    for finding in itertools.chain.from_iterable(found.values()):
        say(finding)
    counts = {name: len(findings) for name, findings in found.items()}
    conclude({"ok": not any(counts.values()), **counts, "findings_target": 0})


if __name__ == "__main__":
    main()
