"""What processes write to their logs, and what they leave out."""

import json
import logging
from collections.abc import Iterator

import pytest

from onlooker import logs


@pytest.fixture
def usual_logging() -> Iterator[None]:
    root, asyncio_logger = logging.getLogger(), logging.getLogger("asyncio")
    before = root.handlers[:], root.level, asyncio_logger.filters[:]
    yield
    root.handlers[:], asyncio_logger.filters[:] = before[0], before[2]
    root.setLevel(before[1])


@pytest.mark.usefixtures("usual_logging")
def test_a_connection_to_the_bus_that_ends_is_no_news_of_asyncio(capsys: pytest.CaptureFixture[str]) -> None:
    logs.write_logs("gateway", level="info")
    logging.getLogger("asyncio").warning("returning true from eof_received() has no effect when using ssl")
    logging.getLogger("asyncio").warning("a task was destroyed")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["process"], line["event"]) for line in lines] == [("gateway", "a task was destroyed")]
