"""Numbers as tables of pandas and Polars, where they are installed; they are in no pins, so CI sees the refusal."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from onlooker_client import ConfigError, LinkError
from onlooker_client.numbers.metrics import Metrics, Query

PAGE: dict[str, Any] = {
    "entities": {
        "2026-03-29T01:00:00+01:00": {"passing_by": {"value": 3}, "stop_time": {"value": None}, "gender": {"male": 3}},
        "2026-03-29T03:00:00+02:00": {"passing_by": {"value": 1}, "stop_time": {"value": 2.5}, "gender": {"male": 1}},
    },
    "from_date": "2026-03-29T01:00:00+01:00",
    "to_date": "2026-03-29T04:00:00+02:00",
    "next_page": "",
}


def metrics(page: dict[str, Any] = PAGE, tz: str | None = "Europe/Paris") -> Metrics:
    return Metrics(lambda _: page, Query.of(["passing_by", "stop_time"], "2026-03-29", None, time="by_hour", tz=tz))


@pytest.mark.parametrize("name", ["pandas", "polars"])
def test_what_is_not_installed_says_how_to_install_it(name: str) -> None:
    if importlib.util.find_spec(name):
        pytest.skip(f"{name} is installed")
    with pytest.raises(ConfigError, match=f"pip install {name}"):
        getattr(metrics(), f"to_{name}")()


@pytest.mark.parametrize("tz", ["Europe/Paris", None])
def test_pandas(tz: str | None) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    table = metrics(tz=tz).to_pandas()
    assert list(table.columns) == ["passing_by", "stop_time", "gender_male"]
    assert list(table["passing_by"]) == [3, 1]
    assert [moment.isoformat() for moment in table.index.tz_convert("UTC")] == [
        "2026-03-29T00:00:00+00:00",
        "2026-03-29T01:00:00+00:00",
    ]
    assert table["stop_time"].isna().tolist() == [True, False]
    assert str(table.index.tz) == (tz or "UTC")
    assert len(metrics(PAGE | {"entities": {}}, tz=tz).to_pandas()) == 0


@pytest.mark.parametrize("tz", ["Europe/Paris", None])
def test_polars(tz: str | None) -> None:
    polars = pytest.importorskip("polars", reason="polars is not installed")
    table = metrics(tz=tz).to_polars()
    assert table.columns == ["start", "passing_by", "stop_time", "gender_male"]
    assert table.schema["start"] == polars.Datetime("us", tz or "UTC")
    assert table["passing_by"].to_list() == [3, 1]
    assert table["stop_time"].to_list() == [None, 2.5]
    assert metrics(PAGE | {"entities": {}}, tz=tz).to_polars().height == 0


def test_parquet_is_saved_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    query = Query.of(["passing_by"], "2026-03-29", None, time="by_hour", tz=None)
    asked: list[str] = []

    def saving(content: bytes) -> Metrics:
        def download(text: str) -> bytes:
            asked.append(text)
            return content

        return Metrics(lambda _: PAGE, query, download=download)

    path = tmp_path / "numbers.parquet"
    for broken in (b"", b"PAR1 and no end", b'{"entities": {}}'):
        with pytest.raises(LinkError, match="no Parquet"):
            saving(broken).save_parquet(path)
    assert list(tmp_path.iterdir()) == []
    saving(b"PAR1 numbers PAR1").save_parquet(path)
    assert path.read_bytes() == b"PAR1 numbers PAR1"
    assert list(tmp_path.iterdir()) == [path]
    assert set(asked) == {"metrics=passing_by&from_date=2026-03-29&time=by_hour"}
    with pytest.raises(ConfigError, match="of no server"):
        metrics().save_parquet(path)
    with pytest.raises(ConfigError, match="can't be written"):
        saving(b"PAR1 numbers PAR1").save_parquet(tmp_path / "no" / "file")
