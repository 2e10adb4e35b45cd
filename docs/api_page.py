"""The page of the management interface's operations, from their table."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
INTRODUCTION = """# Operations of the management interface

What programs can do with a [key](../guides/keys.md): [the management interface](../guides/api.md). Parameters, bodies
and answers are in the reference of a running console, at `/api/v1/`, and in `/api/v1/openapi.json`.
"""


def api_page(table: Callable[[list[str], list[list[object]]], str]) -> str:
    """In a separate process: Django is set up only once, and tests set it up differently."""
    listing = [sys.executable, str(HERE / "api_operations.py")]
    chapters = json.loads(subprocess.run(listing, capture_output=True, text=True, check=True).stdout)
    parts = [INTRODUCTION]
    for chapter, rows in chapters.items():
        shown: list[list[object]] = [[f"`{operation}`", summary, rights] for operation, summary, rights in rows]
        parts.append(f"## {chapter}\n\n" + table(["operation", "what it does", "which keys"], shown))
    return "\n".join(parts)
