"""The commands `onlooker ...` of the guides for operators exist, with the options that they have there."""

import shlex

import click
import pytest

from doc_pages import ROOT, blocks_in
from onlooker.cli import main


@pytest.mark.parametrize("guide", ["backup", "operate", "upgrade"])
def test_commands_of_a_guide_have_these_options(guide: str) -> None:
    text = (ROOT / f"docs/guides/{guide}.md").read_text(encoding="utf-8")
    lines = [line for block in blocks_in(text) for line in block.splitlines() if line.startswith("onlooker ")]
    assert lines
    for line in lines:
        _, *rest = shlex.split(line.partition(" > ")[0])
        command: click.Command = main
        context = click.Context(command, info_name="onlooker")
        while isinstance(command, click.Group):
            found = command.get_command(context, rest.pop(0))
            assert found, line
            command, context = found, click.Context(found, parent=context)
        command.make_parser(context).parse_args(args=rest)
