"""`onlooker-agent doctor` where all is well, at the real product."""

import json
from pathlib import Path

from terminal_command import run_agent
from testkit import Stack, TestStream

from onlooker_client.doctor.checks import CHECKS

NO_FILE = {"ONLOOKER_CONFIG": ""}
"""Settings come from the environment alone."""


def test_all_is_well_with_real_frames_which_leave_nothing_behind(
    product: Stack, stream: TestStream, passing: str, tmp_path: Path
) -> None:
    environment = {
        **NO_FILE,
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CA_FILE": product.ca_file,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
    }
    ended = run_agent("doctor", passing, "--json", folder=tmp_path, **environment)
    assert stream.access_token not in ended.stdout + ended.stderr
    said = json.loads(ended.stdout)
    assert (ended.returncode, said["ok"], said["to_fix"]) == (0, True, 0), said
    figures = {check["name"]: check["figure"] for check in said["checks"]}
    assert list(figures) == [check.name for check in CHECKS]
    assert figures["stream"] == "enterprise stream, switched on"
    assert figures["quota"].endswith("no limit")
    assert figures["network"].endswith("KB are needed")
    assert "up to 3.2 m away, assuming a view of 53 degrees" in figures["distance"]
    assert "in view" in figures["analysis"]
    assert product.execute("SELECT count(*) FROM visits_visit WHERE stream_id = %s", stream.id) == [(0,)]
