"""The commands of docs/guides/kubernetes.md run, except those that say why they can't."""

import shutil

import pytest

from doc_pages import ROOT, blocks_in
from testkit.manifests import has_kubectl

GUIDE = ROOT / "docs" / "guides" / "kubernetes.md"
MARK = "# not tested: "

pytestmark = pytest.mark.skipif(not has_kubectl() or not shutil.which("openssl"), reason="no kubectl or no openssl")


def test_what_needs_a_cluster_says_so() -> None:
    for block in blocks_in(GUIDE.read_text(encoding="utf-8")):
        asks_a_cluster = any(line.startswith("kubectl ") and "kustomize" not in line for line in block.splitlines())
        assert block.startswith(MARK) == (asks_a_cluster or "curl" in block), block
