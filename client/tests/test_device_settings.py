"""Where frames are computed: by the option, by the stream, by what is remembered of it."""

import json
from pathlib import Path

import pytest
from faulty_server import answering, http, peer

from onlooker_client.command.agent import build_parser
from onlooker_client.config import Config
from onlooker_client.device.command_options import ComputePlan, plan_computing
from onlooker_client.device.journal import Journal
from onlooker_client.device.stream_settings import StreamSettings, recall_settings

SAID = {"compute": "device", "reads": {"age": False, "gender": True, "expression": True}, "retention_days": 30}
NOWHERE = "http://127.0.0.1:1"


def plan(url: str, folder: Path, *options: str) -> ComputePlan:
    arguments = build_parser().parse_args(["run", "0", "--journal", str(folder), *options])
    return plan_computing(arguments, Config(url=url, client_id="a-login", access_token="a-password"))


def test_the_option_wins_over_the_stream(tmp_path: Path) -> None:
    with peer(answering(http(json.dumps(SAID).encode()))) as server:
        assert plan(server.url, tmp_path).computes_here
        assert not plan(server.url, tmp_path, "--compute", "server").computes_here
    assert plan(NOWHERE, tmp_path, "--compute", "device").computes_here


def test_what_the_stream_allows_is_read_and_nothing_else(tmp_path: Path) -> None:
    with peer(answering(http(json.dumps(SAID).encode()))) as server:
        compute = plan(server.url, tmp_path).compute
    assert (compute.reads_age, compute.reads_gender, compute.reads_expression) == (False, True, True)


def test_without_a_line_the_device_goes_on_as_the_server_said_last(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.remember("settings", json.dumps(SAID))
    journal.close()
    made = plan(NOWHERE, tmp_path)
    assert made.computes_here
    assert made.is_stream_known
    assert not made.compute.reads_age


def test_a_device_that_never_reached_its_server_sends_frames(tmp_path: Path) -> None:
    folder = tmp_path / "journal"
    assert not plan(NOWHERE, folder).computes_here
    assert not folder.exists()


@pytest.mark.parametrize("said", [{}, {"reads": {"age": True}, "compute": "elsewhere"}, {"reads": None}])
def test_an_older_server_computes_itself(said: dict[str, object]) -> None:
    assert StreamSettings.of(said) == StreamSettings()


def test_a_folder_without_a_journal_remembers_nothing(tmp_path: Path) -> None:
    assert recall_settings(tmp_path / "none") is None
