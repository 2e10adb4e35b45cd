"""The commands of docs/guides/kubernetes.md run, except those that say why they can't."""

import shutil
import subprocess
from pathlib import Path

import pytest

from doc_pages import ROOT, blocks_in
from testkit.manifests import has_kubectl, read_manifests

GUIDE = ROOT / "docs" / "guides" / "kubernetes.md"
MARK = "# not tested: "

pytestmark = pytest.mark.skipif(not has_kubectl() or not shutil.which("openssl"), reason="no kubectl or no openssl")


def test_the_commands_without_a_cluster_run(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "deploy" / "kubernetes", tmp_path / "deploy" / "kubernetes")
    blocks = blocks_in(GUIDE.read_text(encoding="utf-8"))
    run = [block for block in blocks if not block.startswith(MARK)]
    assert len(run) == 2
    for block in run:
        subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=tmp_path, check=True, capture_output=True)
    rendered = read_manifests((tmp_path / "var" / "kubernetes" / "rendered.yaml").read_text(encoding="utf-8"))
    [settings] = [one["data"] for one in rendered if one["kind"] == "ConfigMap"]
    assert (settings["ONLOOKER_SIGNUP"], settings["ONLOOKER_HTTP_PORT"]) == ("closed", "0")
    [worker] = [one for one in rendered if (one["kind"], one["metadata"]["name"]) == ("Deployment", "worker")]
    assert worker["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.example.org/onlooker:0.1.0"
    assert (tmp_path / "var" / "kubernetes-secrets" / "secrets.yaml").stat().st_mode & 0o077 == 0
