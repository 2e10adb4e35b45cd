"""The commands of the guide to backups run as they stand there; those that can't are marked with the reason."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from bench.restore.archive import TARGET, guide_command
from doc_pages import ROOT
from onlooker.console.web.secret_key import ensure_secret_key
from onlooker.settings import Settings
from testkit import own_cluster

GUIDE = ROOT / "docs" / "guides" / "backup.md"
BLOCK = re.compile(r"(?:^<!-- (.+?) -->\n)?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKS = ("run by just restore-drill", "not run by a test: ")
DRILLED = ("stanza-create", "check", "--type=full backup", "--target-action=promote restore")


def guide_blocks(*, marked: bool) -> list[str]:
    found = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
    return [commands for mark, commands in found if bool(mark) == marked]


def test_every_mark_says_who_runs_the_commands_or_why_nobody_does() -> None:
    marks = [mark for mark, _ in BLOCK.findall(GUIDE.read_text(encoding="utf-8")) if mark]
    assert marks
    assert not [mark for mark in marks if not mark.startswith(MARKS)]


def test_the_drill_finds_its_commands_in_the_guide() -> None:
    assert all(guide_command(ending).startswith("pgbackrest --stanza=onlooker ") for ending in DRILLED)
    assert TARGET in guide_command(DRILLED[-1])


@pytest.mark.slow
def test_the_commands_back_up_restore_and_replace_the_secret_key(tmp_path: Path) -> None:
    key, create, restore, new, reseal, drop = guide_blocks(marked=False)
    home = tmp_path / "home"
    with own_cluster("fsync=off") as cluster:
        path = f"{Path(sys.executable).parent}:{cluster.programs}:{os.environ['PATH']}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("ONLOOKER_")}
        place = {"PGHOST": "127.0.0.1", "PGPORT": str(cluster.port), "PGUSER": "postgres", "ONLOOKER_HOME": str(home)}

        def run(commands: str) -> str:
            done = subprocess.run(
                ["bash", "-euo", "pipefail", "-c", commands],
                env=clean | place | {"PATH": path},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        run("createdb onlooker; onlooker migrate")
        home.mkdir(mode=0o700)
        first = ensure_secret_key(Settings(home=str(home)))
        run(key)
        assert "home/secret_key" in run(create)
        run("dropdb onlooker")
        shutil.rmtree(home)
        assert "Database: restored." in run(restore)
        assert (home / "secret_key").read_text() == first
        with psycopg.connect(cluster.url.removesuffix("postgres") + "onlooker") as connection:
            assert connection.execute("SELECT count(*) FROM visits_visit").fetchone() == (0,)
        run(new)
        assert (home / "secret_key_fallbacks").read_text().strip() == first != (home / "secret_key").read_text()
        run(reseal)
        run(drop)
        assert not (home / "secret_key_fallbacks").exists()
