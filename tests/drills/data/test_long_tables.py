"""Tables of many rows, as they are sent: in little memory, and no longer than their reader's token lives."""

import io
import time
from collections.abc import Iterator

import httpx2
import pytest
from pyarrow import parquet

from data_process import Served
from onlooker.metrics.definitions import METRICS
from readers import PATH

pytest_plugins = ["endpoint"]

YEAR = {"metrics": ",".join(METRICS), "time": "by_hour", "from_date": "2025-03-01T00:00:00Z"}
ALL_TIME = {**YEAR, "from_date": "2015-01-01T00:00:00Z", "to_date": "2026-05-01T00:00:00Z"}
"""Nearly as many rows as a table may have."""


def read_out(chunks: Iterator[bytes]) -> int:
    return sum(len(chunk) for chunk in chunks)


def rows_of(form: str, content: bytes) -> int:
    return parquet.read_table(io.BytesIO(content)).num_rows if form == "parquet" else content.count(b"\n") - 1


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_year_by_hour_takes_little_memory(served: Served, form: str) -> None:
    with served.client(served.archive.create_stream()) as client:
        client.get(f"{PATH}.{form}", params={**YEAR, "to_date": "2025-03-08T00:00:00Z"})
        before = served.memory_bytes()
        most, pieces = before, []
        with client.stream("GET", f"{PATH}.{form}", params={**YEAR, "to_date": "2026-03-01T00:00:00Z"}) as answer:
            for piece in answer.iter_bytes():
                pieces.append(piece)
                most = max(most, served.memory_bytes())
    assert rows_of(form, b"".join(pieces)) == 365 * 24
    assert most - before < 50 * 1024**2


def test_a_token_that_dies_ends_a_table(served: Served) -> None:
    """A reader that reads slowly would else read on for hours."""
    stream = served.archive.create_stream()
    ends_at = int(time.time()) + 3
    token = served.archive.token(stream, exp=ends_at)
    headers = {"Authorization": f"Bearer {token}", "Accept-Encoding": "identity"}
    with (
        served.client(stream) as client,
        client.stream("GET", f"{PATH}.csv", params=ALL_TIME, headers=headers) as answer,
    ):
        assert answer.status_code == 200
        time.sleep(ends_at + 0.2 - time.time())  # what is not read fills a socket's buffers, and no more is sent
        with pytest.raises(httpx2.RemoteProtocolError):
            read_out(answer.iter_bytes())
    assert '"code":"expired_jwt"' in served.log.read_text()
