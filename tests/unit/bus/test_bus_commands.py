"""`onlooker bus`: three servers are configured, prepared and checked, with and without certificates."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from onlooker.cli import main


def configuration(folder: Path, *arguments: str) -> dict[str, object]:
    runner = CliRunner(env={"ONLOOKER_HOME": str(folder)})
    done = runner.invoke(main, ["bus", "configuration", "--name", "n1", "--listen", "10.0.0.1:4322", *arguments])
    assert done.exit_code == 0, done.output
    printed: dict[str, object] = json.loads(done.stdout)
    return printed


def test_passwords_are_created_once(tmp_path: Path) -> None:
    first = configuration(tmp_path)
    assert configuration(tmp_path) == first
    other = configuration(tmp_path, "--passwords", str(tmp_path / "others.json"))
    assert other != first
    assert (tmp_path / "others.json").stat().st_mode & 0o777 == 0o600
    users = [user["user"] for user in first["authorization"]["users"]]  # type: ignore[index]
    assert users == ["gateway", "dispatcher", "recorder", "setup", "worker"]
    pools = configuration(tmp_path, "--pool", "cpu", "--pool", "gpu")
    assert [user["user"] for user in pools["authorization"]["users"]][-2:] == ["cpu", "gpu"]  # type: ignore[index]
    known = json.loads((tmp_path / "nats/passwords.json").read_text())
    assert set(known) == {*users, "cpu", "gpu", "route"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--listen", "10.0.0.1"], "such as 10.0.0.1:4322"),
        (["--route", "nats://10.0.0.2:6322"], "--route needs --cluster-listen"),
        (["--cluster-listen", "10.0.0.1:6322", "--route", "nats://a:b@10.0.0.2:6322"], "without a user"),
        (["--certificate", "a.pem"], "TLS needs --certificate and --key"),
        (["--certificate", "a.pem", "--key", "a.key", "--cluster-listen", "10.0.0.1:6322"], "name the --authority"),
        (["--pool", "Workers"], "small letters"),
        (["--pool", "gateway"], "the bus has such a user already"),
    ],
)
def test_a_configuration_that_could_not_work_is_refused(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    runner = CliRunner(env={"ONLOOKER_HOME": str(tmp_path)})
    command = ["bus", "configuration", "--name", "n1", "--listen", "10.0.0.1:4322", *arguments]
    done = runner.invoke(main, command)
    assert done.exit_code == 2
    assert complaint in done.output
    assert not (tmp_path / "nats").exists()
