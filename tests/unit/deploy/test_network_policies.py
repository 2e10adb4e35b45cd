"""On Kubernetes there are the connections that ARCHITECTURE.md lists, and no others."""

import re
from pathlib import Path

import pytest

from testkit.manifests import (
    OVERLAYS,
    Connection,
    allowed_connections,
    denies_by_default,
    has_kubectl,
    read_manifests,
    render,
)

ARCHITECTURE = Path(__file__).parents[3] / "ARCHITECTURE.md"

pytestmark = pytest.mark.skipif(not has_kubectl(), reason="kubectl is not installed")


def listed_connections(overlay: str) -> set[Connection]:
    section = ARCHITECTURE.read_text(encoding="utf-8").partition("## Connections")[2].partition("\n## ")[0]
    found: set[Connection] = set()
    for row in re.findall(r"^\| (.+) \|$", section, re.MULTILINE)[1:]:
        sources, targets, ports, _, only_in = (cell.strip() for cell in f"{row} ".split("|"))
        if only_in in ("", overlay):
            found |= {
                Connection(source, target, int(port))
                for source in sources.split(", ")
                for target in targets.split(", ")
                for port in ports.split(", ")
            }
    return found


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_the_policies_allow_what_is_listed_and_nothing_else(overlay: str) -> None:
    manifests = read_manifests(render(overlay))
    assert denies_by_default(manifests)
    assert sorted(allowed_connections(manifests)) == sorted(listed_connections(overlay))


def test_what_one_side_alone_allows_is_no_connection() -> None:
    manifests = read_manifests(render("small"))
    without_target = [one for one in manifests if (one["kind"], one["metadata"]["name"]) != ("NetworkPolicy", "bus")]
    lost = allowed_connections(manifests) - allowed_connections(without_target)
    assert {one.target for one in lost} == {"bus"}
    assert Connection("worker", "bus", 4222) in lost
