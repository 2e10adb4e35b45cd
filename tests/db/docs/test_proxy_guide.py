"""The guides' lines for HAProxy are whole, and HAProxy takes them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from bench.journeys.haproxy import HOSTS, prepare_front


def test_the_guides_cover_all_three_addresses(tmp_path: Path) -> None:
    """Written with the places of this machine; it raises where a guide lacks one of them."""
    front = prepare_front(tmp_path)
    lines = (tmp_path / "haproxy.cfg").read_text()
    assert "example.org" not in lines
    assert all(f"127.0.0.1:{port} check" in lines for port in front.backend_ports)
    assert all(f"-i {HOSTS[name]} }}" in lines for name in ("console.example.org", "data.example.org"))


@pytest.mark.skipif(not shutil.which("haproxy", path="/usr/sbin:/usr/bin"), reason="haproxy is not installed")
def test_haproxy_takes_the_lines_without_a_word_of_warning(tmp_path: Path) -> None:
    prepare_front(tmp_path)
    haproxy = shutil.which("haproxy", path="/usr/sbin:/usr/bin")
    checked = subprocess.run(
        [str(haproxy), "-c", "-f", str(tmp_path / "haproxy.cfg")],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
    assert "WARNING" not in checked.stderr
