"""Numbers as a table of pandas or Polars, where one of them is installed."""

from __future__ import annotations

import importlib
from datetime import timezone
from typing import TYPE_CHECKING, Any

from onlooker_client.errors import ConfigError

if TYPE_CHECKING:
    from onlooker_client.numbers.metrics import Metrics


def to_pandas(metrics: Metrics) -> Any:
    """`start` is the index, in the time zone that was asked for, else in UTC: offsets of a summer differ."""
    pandas = _load("pandas")
    rows = metrics.rows()
    table = pandas.DataFrame(rows, columns=list(rows[0]) if rows else ["start"])
    start = pandas.to_datetime(table["start"], utc=True)
    table["start"] = start.dt.tz_convert(metrics.query.tz) if metrics.query.tz else start
    return table.set_index("start")


def to_polars(metrics: Metrics) -> Any:
    """`start` is a column, in the time zone that was asked for, else in UTC."""
    polars = _load("polars")
    rows = [{**row, "start": row["start"].astimezone(timezone.utc)} for row in metrics.rows()]
    schema = {"start": polars.Datetime("us", "UTC")}
    table = polars.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)
    column = polars.col("start")
    return table.with_columns(column.dt.convert_time_zone(metrics.query.tz)) if metrics.query.tz and rows else table


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise ConfigError(f"{name} is not installed. Do: pip install {name}") from None
