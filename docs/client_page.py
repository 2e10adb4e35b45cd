"""The reference of the device client, from its source: commands, exit codes, settings, reasons for dropped frames."""

import argparse
import ast
import inspect
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from explanations import Undocumented

from onlooker_client.agent.frame_counts import Drop
from onlooker_client.command import exit_codes
from onlooker_client.command.agent import build_parser as agent_parser
from onlooker_client.command.client import build_parser as client_parser
from onlooker_client.config import FROM_FILES, PREFIX, Config

Table = Callable[[list[str], list[list[object]]], str]
WIDTH = "100"
FROM_THE_SHELL: list[list[object]] = [
    [130, "Stopped by Ctrl-C. `setup` then changes nothing; `analyse` ends its session and prints how to continue."],
    [143, "Stopped by SIGTERM. `run` is meant to be stopped: it exits with 0 in both cases."],
]
"""128 plus the signal number, the shell's convention."""


def client_page(table: Table) -> str:
    helps = [f"## {name}\n\n```text\n{text}\n```\n" for name, text in helps_of_all()]
    codes: list[list[object]] = [[value, meaning] for _, value, meaning in documented_values(exit_codes)]
    return "\n".join(
        [
            "# The device client\n\nGuides: [the agent](../guides/agent.md), "
            "[recorded videos](../guides/analyse.md), [doctor](../guides/doctor.md), [the SDK](../guides/sdk.md), "
            "[managing an organisation](../guides/manage.md).\n",
            *helps,
            "## Exit codes\n\n" + table(["code", "when"], codes + FROM_THE_SHELL),
            "## Settings\n\nA setting comes from an option, otherwise from the environment, otherwise from the file "
            "that `setup` wrote (JSON, readable by its owner only). `ONLOOKER_CONFIG` selects another file.\n\n"
            + table(["in the file", "in the environment", "meaning"], list(settings_rows())),
            "## Why a frame is dropped\n\nEvery grabbed frame is counted once: answered, idle, dropped for one of "
            "these reasons, or in flight.\n\n" + table(["reason", "when"], list(drop_rows())),
        ]
    )


def helps_of_all() -> Iterator[tuple[str, str]]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        for parser in (agent_parser(), client_parser()):
            yield from helps_of(parser)
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before


def helps_of(parser: argparse.ArgumentParser) -> Iterator[tuple[str, str]]:
    yield parser.prog, parser.format_help().rstrip()
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in action.choices.values():
                yield from helps_of(child)


def documented_values(source: ModuleType | type) -> Iterator[tuple[str, object, str]]:
    """Every `NAME = value` of a module or class, with the text under it; raises Undocumented if there is none."""
    path = Path(inspect.getfile(source))
    body = ast.parse(path.read_text(encoding="utf-8")).body
    if isinstance(source, type):
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == source.__name__)
    for line, after in zip(body, [*body[1:], None], strict=True):
        target = line.targets[0] if isinstance(line, ast.Assign) else getattr(line, "target", None)
        if isinstance(target, ast.Name):
            text = after.value.value if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            if not text:
                raise Undocumented(f"{target.id} has no text under it. Add one in {path.name}.")
            value = getattr(line, "value", None)
            yield target.id, value.value if isinstance(value, ast.Constant) else None, str(text)


def settings_rows() -> Iterator[list[object]]:
    for name, _, meaning in documented_values(Config):
        also = f" or `{PREFIX}{name.upper()}_FILE`, a file that holds it" if name in FROM_FILES else ""
        yield [f"`{name}`", f"`{PREFIX}{name.upper()}`{also}", meaning]


def drop_rows() -> Iterator[list[object]]:
    for _, value, meaning in documented_values(Drop):
        yield [f"`{value}`", meaning]
