"""`onlooker-client`: what it prints, and how it ends."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from client_command import run_client
from testkit import Stack, TestStream

from onlooker_client.config import read_file


def variables(product: Stack, stream: TestStream) -> dict[str, str]:
    return {
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        "ONLOOKER_USERNAME": "owner@example.org",
    }


def test_check_says_that_all_is_well(product: Stack, stream: TestStream) -> None:
    done = run_client("check", **variables(product, stream))
    assert done.returncode == 0, done.stderr
    assert "accepts Login and Password" in done.stdout
    assert "0 min of video computed, no limit" in done.stdout
    assert stream.access_token not in done.stdout


def test_check_says_what_is_wrong(product: Stack, stream: TestStream) -> None:
    wrong = run_client("check", **variables(product, stream) | {"ONLOOKER_ACCESS_TOKEN": "wrong"})
    assert (wrong.returncode, wrong.stdout) == (78, "")
    assert "does not recognise this Login and Password" in wrong.stderr
    disabled = run_client("check", **variables(product, product.create_stream(enabled=False)))
    assert disabled.returncode == 1
    assert "switched off" in disabled.stdout
    nowhere = run_client("check", **variables(product, stream) | {"ONLOOKER_URL": "https://localhost:1"})
    assert nowhere.returncode == 69
    assert "Check the address and the port." in nowhere.stderr
    nothing = run_client("check")
    assert nothing.returncode == 78
    assert "--url or ONLOOKER_URL" in nothing.stderr
    assert "Client(" not in nothing.stderr
    another = run_client("check", "--client-id", "abc", **variables(product, stream))
    assert another.returncode == 78
    assert f"belongs to another Login, {stream.client_id}" in another.stderr
    no_authority = run_client("check", "--ca", __file__, **variables(product, stream))
    assert "_ssl.c" not in no_authority.stderr
    assert "ONLOOKER_URL" in nothing.stderr


def test_services_are_listed(product: Stack, stream: TestStream) -> None:
    done = run_client("services", **variables(product, stream))
    assert done.returncode == 0, done.stderr
    assert "scene_analysis 1" in done.stdout


def test_numbers_as_a_table_as_json_and_as_csv(product: Stack, stream: TestStream) -> None:
    asked = ("metrics", "--from", "2026-03-01", "--to", "2026-03-04", "--metrics", "passing_by,gender")
    table, lines, sheet = (
        run_client(*asked, *form, **variables(product, stream)) for form in ((), ("--json",), ("--csv",))
    )
    assert "Sun 01 Mar 2026" in table.stdout, table.stderr
    assert table.stdout.splitlines()[0].split()[-1] == "watched"
    assert table.stdout.splitlines()[1].split()[4:] == ["-", "-", "-", "-", "0%"], "nobody watched: no zeros"
    assert [json.loads(line)["passing_by"]["value"] for line in lines.stdout.splitlines()] == [0, 0, 0]
    assert sheet.stdout.startswith("start,passing_by,gender_?,gender_female,gender_male,watched,watched_share,gaps_")
    assert len(sheet.stdout.splitlines()) == 4


def test_numbers_as_a_file_of_parquet(product: Stack, stream: TestStream, tmp_path: Path) -> None:
    path = tmp_path / "numbers.parquet"
    asked = ("metrics", "--from", "2026-03-01", "--to", "2026-03-04", "--metrics", "passing_by,gender")
    done = run_client(*asked, "--parquet", path, **variables(product, stream))
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    content = path.read_bytes()
    assert content[:4] == content[-4:] == b"PAR1"
    assert stream.client_id.encode() in content
    assert list(tmp_path.iterdir()) == [path]
    nowhere = run_client(*asked, "--parquet", tmp_path / "no" / "file", **variables(product, stream))
    assert nowhere.returncode == 78
    assert "can't be written: No such file" in nowhere.stderr


def test_weeks_months_and_quarter_hours_are_shown(product: Stack, stream: TestStream) -> None:
    asked = ("metrics", "--from", "2026-03-01T09:30:00Z", "--to", "2026-03-03T09:30:00Z", "--tz", "UTC")
    starts = {"week": "Mon 23 Feb 2026", "month": "Mar 2026", "quarter-hour": "Sun 01 Mar 2026 09:30"}
    for by, start in starts.items():
        done = run_client(*asked, "--by", by, **variables(product, stream))
        assert done.stdout.splitlines()[1].startswith(f"{start}  "), done.stderr


def test_a_wrong_metric_is_a_wrong_use(product: Stack, stream: TestStream) -> None:
    done = run_client("metrics", "--metrics", "happiness", **variables(product, stream))
    assert (done.returncode, done.stdout) == (2, "")
    assert "happiness" in done.stderr
    assert "400" not in done.stderr


def test_a_wrong_moment_is_said_with_its_option() -> None:
    done = run_client("metrics", "--from", "2 hours ago")
    assert done.returncode == 2
    assert "--from 2 hours ago is not a valid time" in done.stderr


def test_the_range_is_shown_to_the_second_and_in_the_zone_that_was_asked_for(
    product: Stack, stream: TestStream
) -> None:
    asked = ("--from", "2026-03-01T09:00:05Z", "--to", "2026-03-01T09:00:10Z", "--tz", "America/New_York")
    done = run_client("metrics", *asked, "--by", "global", **variables(product, stream))
    assert "01 Mar 2026 04:00:05 to 01 Mar 2026 04:00:10 America/New_York" in done.stdout, done.stderr


def test_numbers_are_broken_down_and_filtered(product: Stack, stream: TestStream) -> None:
    asked = (
        "metrics",
        "--from",
        "2026-03-01",
        "--to",
        "2026-03-02",
        "--metrics",
        "interested",
        "--dimensions",
        "gender,age",
    )
    table, sheet = (run_client(*asked, *form, **variables(product, stream)) for form in ((), ("--csv",)))
    lines = table.stdout.splitlines()
    assert lines[0].split() == ["start", "gender", "age", "interested", "watched"], table.stderr
    assert lines[2].split()[4:6] == ["?", "15-24"]
    assert len(lines) == 1 + 3 * 8 + 1
    assert sheet.stdout.startswith("start,gender,age,interested,watched,")
    wrong = run_client(*asked, "--filter", "age:25", **variables(product, stream))
    assert wrong.returncode == 2
    assert "There is no age '25'. Its parts are 0-14 15-24" in wrong.stderr


def historic(tmp_path: Path, **said: str) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"default_root": "https://gate.angus.ai", "ca_path": "/old/certificate.pem"} | said))
    return path


def test_settings_of_the_historic_sdk_are_taken_over(product: Stack, stream: TestStream, tmp_path: Path) -> None:
    known = {"client_id": stream.client_id, "access_token": stream.access_token}
    source = historic(tmp_path, default_root=product.url, **known)
    target = tmp_path / "client.json"
    arguments = ("--from", source, "--to", target, "--url", product.url, "--ca", product.ca_file)
    done = run_client("migrate-config", *arguments)
    assert done.returncode == 0, done.stderr
    assert stream.access_token not in done.stdout + done.stderr
    config = read_file(target)
    assert (config.url, config.client_id, config.access_token) == (product.url, stream.client_id, stream.access_token)
    assert config.ca_file == product.ca_file
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert run_client("check", "--config", target).returncode == 0

    again = run_client("migrate-config", *arguments)
    assert again.returncode == 78
    assert "--force" in again.stderr
    assert run_client("migrate-config", *arguments, "--force").returncode == 0


def test_credentials_of_the_old_cloud_are_no_use_and_that_is_said(product: Stack, tmp_path: Path) -> None:
    source = historic(tmp_path, client_id="7f5933d2-cd7c-11e4-9fe6-490467a5e114", access_token="hunter2")
    target = tmp_path / "client.json"
    done = run_client("migrate-config", "--from", source, "--to", target, "--url", product.url, "--ca", product.ca_file)
    assert done.returncode == 78
    assert "--client-id LOGIN" in done.stderr
    assert "hunter2" not in done.stdout + done.stderr
    assert not target.exists()


def test_settings_that_do_not_work_are_not_written(product: Stack, stream: TestStream, tmp_path: Path) -> None:
    source, target = historic(tmp_path, client_id="old", access_token="old"), tmp_path / "client.json"
    arguments = ("--from", source, "--to", target, "--ca", product.ca_file, "--client-id", stream.client_id)
    wrong = run_client("migrate-config", *arguments, "--url", product.url, ONLOOKER_ACCESS_TOKEN="wrong")
    assert wrong.returncode == 78
    nowhere = run_client("migrate-config", *arguments, "--url", "https://localhost:1", ONLOOKER_ACCESS_TOKEN="wrong")
    assert nowhere.returncode == 69
    for done in (wrong, nowhere):
        assert "Nothing was written." in done.stderr
    assert not target.exists()


def test_another_stream_can_be_named_while_taking_over(product: Stack, stream: TestStream, tmp_path: Path) -> None:
    source, target = historic(tmp_path, client_id="old", access_token="old"), tmp_path / "client.json"
    arguments = ("--from", source, "--to", target, "--url", product.url, "--ca", product.ca_file)
    missing = run_client("migrate-config", *arguments, "--client-id", stream.client_id)
    assert missing.returncode == 78
    assert "ONLOOKER_ACCESS_TOKEN" in missing.stderr
    password = {"ONLOOKER_ACCESS_TOKEN": stream.access_token}
    assert run_client("migrate-config", *arguments, "--client-id", stream.client_id, **password).returncode == 0
    assert read_file(target).access_token == stream.access_token


@pytest.mark.parametrize(
    ("said", "arguments", "words"),
    [
        ({"client_id": "a", "access_token": "hunter2"}, (), "The old cloud is gone. Give --url"),
        ({"client_id": "a", "access_token": "hunter2"}, ("--url", "https://gate.angus.ai"), "is gone"),
        ({"client_id": "a", "access_token": "hunter2", "default_root": "http://192.168.1.2"}, (), "Use https://"),
        ({"client_id": "a"}, ("--url", "https://vision.example.org"), "has no client_id and access_token"),
    ],
)
def test_what_cannot_be_taken_over_says_why_and_writes_nothing(
    tmp_path: Path, said: dict[str, str], arguments: tuple[str, ...], words: str
) -> None:
    target = tmp_path / "client.json"
    done = run_client("migrate-config", "--from", historic(tmp_path, **said), "--to", target, *arguments)
    assert done.returncode == 78
    assert words in done.stderr
    assert "hunter2" not in done.stderr
    assert not target.exists()


def test_without_historic_settings_it_says_where_it_looked(tmp_path: Path) -> None:
    done = run_client("migrate-config", HOME=str(tmp_path))
    assert done.returncode == 78
    assert f"{tmp_path}/.angusdk/config.json can't be read" in done.stderr


def test_a_reader_that_leaves_early_hears_no_complaint(product: Stack, stream: TestStream) -> None:
    program = f"{sys.executable} -c 'from onlooker_client.command.client import main; main()'"
    asked = "metrics --from 2026-01-01 --by hour --json | head -n 1"
    environment = {**os.environ, **variables(product, stream)}
    done = subprocess.run(
        ["bash", "-c", f"{program} {asked}"], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == ""
