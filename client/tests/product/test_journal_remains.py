"""A stream that went from the device to the server: what waited on the device is delivered, all of it, then erased."""

import time
from pathlib import Path

from onlooker_client.client import Client
from onlooker_client.device.journal import Journal
from onlooker_client.device.journal_file import NAME
from onlooker_client.device.journal_remains import open_remains

pytest_plugins = ["device_cleanup"]


def test_without_a_journal_there_is_nothing_to_do(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:1", "a-login", "a-password") as client:
        assert open_remains(tmp_path, client.transport) is None
        assert not list(tmp_path.iterdir())


def test_a_journal_that_another_agent_has_open_is_left_to_it(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    with Client("http://127.0.0.1:1", "a-login", "a-password") as client:
        assert open_remains(tmp_path, client.transport) is None
    journal.close()
    assert (tmp_path / NAME).exists()


def test_an_empty_journal_is_erased_without_a_line(tmp_path: Path) -> None:
    Journal(tmp_path).close()
    with Client("http://127.0.0.1:1", "a-login", "a-password") as client:
        remains = open_remains(tmp_path, client.transport)
        assert remains is not None
        for second in (0.0, 10.0, 20.0):
            remains.tick(time.monotonic() + second)
    assert remains.is_erased
    assert not (tmp_path / NAME).exists()
