"""The commands of the guide to backups run as they stand there; those that can't are marked with the reason."""

import re

from bench.restore.archive import TARGET, guide_command
from doc_pages import ROOT

GUIDE = ROOT / "docs" / "guides" / "backup.md"
BLOCK = re.compile(r"(?:^<!-- (.+?) -->\n)?^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKS = ("run by just restore-drill", "not run by a test: ")
DRILLED = ("stanza-create", "check", "--type=full backup", "--target-action=promote restore")


def test_every_mark_says_who_runs_the_commands_or_why_nobody_does() -> None:
    marks = [mark for mark, _ in BLOCK.findall(GUIDE.read_text(encoding="utf-8")) if mark]
    assert marks
    assert not [mark for mark in marks if not mark.startswith(MARKS)]


def test_the_drill_finds_its_commands_in_the_guide() -> None:
    assert all(guide_command(ending).startswith("pgbackrest --stanza=onlooker ") for ending in DRILLED)
    assert TARGET in guide_command(DRILLED[-1])
