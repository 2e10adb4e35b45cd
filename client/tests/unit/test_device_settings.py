"""Where frames are computed: by the option, by the stream, by what is remembered of it."""

import json
from pathlib import Path

import pytest
from faulty_server import answering, http, peer

from onlooker_client.agent.command import read_options
from onlooker_client.command.agent import build_parser
from onlooker_client.config import Config
from onlooker_client.device.command_options import ComputePlan, plan_computing
from onlooker_client.device.journal import Journal
from onlooker_client.device.stream_settings import StreamSettings, recall_settings
from onlooker_client.errors import ConfigError

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
    assert recall_settings(tmp_path) is None
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("compute", "has_feed"), [("device", True), ("server", False)])
def test_a_feed_goes_with_the_streams_setting(tmp_path: Path, compute: str, has_feed: bool) -> None:
    words = ["run", "0", "--feed-port", "8765", "--journal", str(tmp_path)]
    arguments = build_parser().parse_args(words)
    with peer(answering(http(json.dumps(SAID | {"compute": compute}).encode()))) as server:
        made = plan_computing(arguments, Config(url=server.url, client_id="a-login", access_token="a-password"))
    assert (read_options(arguments, made).feed is not None) is has_feed
    with pytest.raises(ConfigError, match="--feed-port"):
        read_options(build_parser().parse_args([*words, "--compute", "server"]), made)


@pytest.mark.parametrize(("groups", "is_grouped"), [({"groups_of": 5}, True), ({"groups_of": 1}, False), ({}, False)])
def test_whether_people_are_told_about_in_groups_is_known(
    tmp_path: Path, groups: dict[str, int], is_grouped: bool
) -> None:
    """An older server does not say it; as long as no server has said anything, they are."""
    with peer(answering(http(json.dumps(SAID | groups).encode()))) as server:
        assert plan(server.url, tmp_path).is_grouped is is_grouped
    assert plan(NOWHERE, tmp_path / "new").is_grouped


def test_whether_faces_are_read_and_when_it_is_open_is_remembered(tmp_path: Path) -> None:
    reads = {"age": False, "gender": False, "expression": False, "faces": False}
    opening = {"hours": "mo 01:00-02:00", "since": 5, "from": 0, "to": 14 * 86_400, "spans": [[3600, 7200]]}
    journal = Journal(tmp_path)
    journal.remember("settings", json.dumps({**SAID, "reads": reads, "opening": opening}))
    journal.close()
    known = plan(NOWHERE, tmp_path)
    assert not known.compute.reads_faces
    assert (known.opening.is_open(3600), known.opening.is_open(7200)) == (True, False)
