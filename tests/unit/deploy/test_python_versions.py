"""Interpreters of other versions are found, and the client's tests that run on them."""

import sys
from pathlib import Path

import pytest

from bench.python_versions import client_tests
from testkit.interpreters import find_interpreter

OWN = f"{sys.version_info.major}.{sys.version_info.minor}"


def test_an_interpreter_that_does_not_start_is_passed_over(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As pyenv's shims do, where the version they stand for is not chosen."""
    shims, kept = tmp_path / "shims", tmp_path / "pyenv" / "versions" / f"{OWN}.0" / "bin"
    for folder, text in ((shims, "exit 127"), (kept, f'exec "{sys.executable}" "$@"')):
        folder.mkdir(parents=True)
        (folder / f"python{OWN}").write_text(f"#!/bin/sh\n{text}\n")
        (folder / f"python{OWN}").chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    assert find_interpreter(OWN) == kept / f"python{OWN}"
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "nowhere"))
    assert find_interpreter(OWN) is None


def test_tests_of_the_client_run_alone_unless_they_need_a_server_or_its_libraries() -> None:
    names = {path.name for path in client_tests()}
    assert {"test_agent_backoff.py", "test_source_kinds.py", "test_bulk_plan.py"} <= names
    assert names.isdisjoint({"test_sdk_jobs.py", "test_docs_agent.py", "test_sdk_attachments.py"})
