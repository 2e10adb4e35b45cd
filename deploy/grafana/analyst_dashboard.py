"""Writes the analysts' dashboard, which reads a stream's numbers from the data endpoint; --check: is the file stale?"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).resolve().parent / "analysts/numbers.json"
SCHEMA_VERSION = 39
"""Of Grafana 10 and 11; newer ones migrate it when they load it."""
WIDTH, HEIGHT, COLUMNS = 12, 8, 24
DATASOURCE = {"type": "yesoreyeram-infinity-datasource", "uid": "${datasource}"}
TABLE = "/api/1/entities.csv"
AGES = ("0-14", "15-24", "25-34", "35-44", "45-54", "55-64", "65+")
GRAINS = {
    "Day": "by_day",
    "Hour": "by_hour",
    "Quarter hour": "by_quarter_hour",
    "Week": "by_week",
    "Month": "by_month",
}


@dataclass(frozen=True)
class NumbersPlot:
    """One panel: what it asks for, and which columns of the table it draws by their legend."""

    title: str
    meaning: str
    unit: str
    metrics: str
    columns: dict[str, str]
    is_stacked: bool = False
    ratio: tuple[str, str] | None = None
    """Legends, one divided by the other, drawn in their place."""


PLOTS = (
    NumbersPlot(
        "People",
        "People who passed by, and those among them who stopped and looked.",
        "short",
        "passing_by,interested",
        {"Passed by": "passing_by", "Interested": "interested"},
    ),
    NumbersPlot(
        "Conversion",
        "Interested people as a share of those who passed by.",
        "percentunit",
        "passing_by,interested",
        {"Passed by": "passing_by", "Interested": "interested"},
        ratio=("Interested", "Passed by"),
    ),
    NumbersPlot(
        "Times",
        "How long interested people stood still, and how long they looked, on average.",
        "s",
        "stop_time,attention_time",
        {"Stopped for": "stop_time", "Looked for": "attention_time"},
    ),
    NumbersPlot(
        "Satisfaction",
        "How happy interested people looked: 0 is unhappy, 0.5 neutral, 1 happy. Empty while expression is not read.",
        "short",
        "satisfaction",
        {"Satisfaction": "satisfaction"},
    ),
    NumbersPlot(
        "Gender",
        "Interested people by gender, as far as it is known.",
        "short",
        "gender",
        {"Female": "gender_female", "Male": "gender_male"},
        is_stacked=True,
    ),
    NumbersPlot(
        "Age",
        "Interested people by age, as far as it is known.",
        "short",
        "age",
        {f"{band} years": f"age_{band}" for band in AGES},
        is_stacked=True,
    ),
    NumbersPlot(
        "Watched",
        "How much of the time was watched. Where it is low, people were missed.",
        "percentunit",
        "passing_by,watched",
        {"Watched": "watched_share"},
    ),
)


def target_of(plot: NumbersPlot) -> dict[str, Any]:
    """A query of the Infinity data source, whose address and key the data source knows."""
    asked = {
        "stream": "${stream}",
        "metrics": plot.metrics,
        "time": "${grain}",
        "tz": "${tz}",
        "from_date": "${__from:date:iso}",
        "to_date": "${__to:date:iso}",
    }
    columns = {"bucket": ("Time", "timestamp")} | {name: (legend, "number") for legend, name in plot.columns.items()}
    return {
        "refId": "A",
        "datasource": DATASOURCE,
        "type": "csv",
        "source": "url",
        "parser": "backend",
        "format": "timeseries",
        "root_selector": "",
        "url": TABLE,
        "url_options": {
            "method": "GET",
            "data": "",
            "params": [{"key": key, "value": value} for key, value in asked.items()],
        },
        "columns": [{"selector": name, "text": text, "type": kind} for name, (text, kind) in columns.items()],
        "filters": [],
    }


def panel_of(plot: NumbersPlot, number: int) -> dict[str, Any]:
    index = number - 1
    drawn = {"drawStyle": "bars", "fillOpacity": 60} if plot.is_stacked else {"drawStyle": "line", "fillOpacity": 10}
    stacking = {"mode": "normal" if plot.is_stacked else "none", "group": "A"}
    panel: dict[str, Any] = {
        "id": number,
        "type": "timeseries",
        "title": plot.title,
        "description": plot.meaning,
        "datasource": DATASOURCE,
        "gridPos": {
            "x": index * WIDTH % COLUMNS,
            "y": index * WIDTH // COLUMNS * HEIGHT,
            "w": COLUMNS if number == len(PLOTS) else WIDTH,
            "h": HEIGHT,
        },
        "targets": [target_of(plot)],
        "fieldConfig": {
            "defaults": {
                "unit": plot.unit,
                "min": 0,
                "custom": drawn | {"stacking": stacking, "showPoints": "auto", "spanNulls": False},
            },
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
            "tooltip": {"mode": "multi", "sort": "none"},
        },
    }
    if plot.ratio:
        left, right = plot.ratio
        calculation = {
            "mode": "binary",
            "binary": {"left": left, "operator": "/", "right": right},
            "alias": plot.title,
            "replaceFields": True,
        }
        panel["transformations"] = [{"id": "calculateField", "options": calculation}]
    return panel


def variables() -> list[dict[str, Any]]:
    grains = [{"text": text, "value": value, "selected": value == "by_day"} for text, value in GRAINS.items()]
    return [
        {"name": "datasource", "label": "Onlooker", "type": "datasource", "query": DATASOURCE["type"]},
        {"name": "stream", "label": "Stream (its Login)", "type": "textbox", "query": ""},
        {
            "name": "grain",
            "label": "By",
            "type": "custom",
            "query": ",".join(f"{text} : {value}" for text, value in GRAINS.items()),
            "current": {"text": "Day", "value": "by_day"},
            "options": grains,
        },
        {"name": "tz", "label": "Time zone", "type": "textbox", "query": "UTC"},
    ]


def dashboard() -> dict[str, Any]:
    return {
        "uid": "onlooker-numbers",
        "title": "Onlooker: numbers of a stream",
        "description": "Generated by deploy/grafana/analyst_dashboard.py. Guide: docs/guides/data.md#in-grafana",
        "tags": ["onlooker-numbers"],
        "timezone": "browser",
        "schemaVersion": SCHEMA_VERSION,
        "time": {"from": "now-30d", "to": "now"},
        "templating": {"list": variables()},
        "panels": [panel_of(plot, number) for number, plot in enumerate(PLOTS, 1)],
    }


def rendered() -> str:
    return json.dumps(dashboard(), indent=2) + "\n"


def main(arguments: list[str]) -> str | None:
    """Write the file, or with --check return what is wrong."""
    if arguments == ["--check"]:
        is_stale = not FILE.exists() or FILE.read_text(encoding="utf-8") != rendered()
        return f"Stale: {FILE.name}. Run: python deploy/grafana/analyst_dashboard.py" if is_stale else None
    if arguments:
        return "usage: python deploy/grafana/analyst_dashboard.py [--check]"
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(rendered(), encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
