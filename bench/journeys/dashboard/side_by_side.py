"""Streams side by side, and weeks before and after a day: the pages, their chart and what is in their files."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.journeys.dashboard.stage import Stage
from bench.journeys.figures import JourneyFigure

ROW_CELLS = """
return Object.fromEntries([...document.querySelectorAll("#rows tr[data-row]")].map((row) => [
    row.querySelector("th a").innerText,
    Object.fromEntries([...row.querySelectorAll("[data-metric]")].map((cell) => [
        cell.dataset.metric, [cell.dataset.value, cell.dataset.rank],
    ])),
]));
"""
CHART = """
const figure = document.querySelector("figure.chart[data-chart=rows]");
return [figure.dataset.drawn, figure.drawnOption.series.length, figure.querySelectorAll("tbody tr").length];
"""
SENTENCES = "return [...document.querySelectorAll('.sentences li')].map((one) => one.innerText)"
_READ = "const [url, done] = arguments; fetch(url).then((answer) => answer.text()).then(done)"


def set_side_by_side(stage: Stage) -> list[JourneyFigure]:
    """Every filled stream of the owner beside the others; then one of them before and after a day."""
    person, browser = stage.person, stage.person.browser
    screens = stage.world.filled
    rows = "&".join(f"row=stream:{screen.client_id}" for screen in screens)
    person.open(f"/streams/compare/?{rows}&period=30d")
    found: dict[str, Any] = browser.execute_script(ROW_CELLS)
    stage.compare(set(found), {screen.name for screen in screens}, "side by side, rows")
    drawn, lines, buckets = browser.execute_script(CHART)
    stage.compare((drawn, lines, buckets), ("yes", len(screens), 30), "side by side, chart")
    text = browser.execute_async_script(_READ, f"/streams/compare/comparison.csv?{rows}&period=30d")
    for line in csv.DictReader(io.StringIO(text)):
        value, rank = found[line["row"]][line["metric"]]
        ranks = dict.fromkeys((line["rank_best"], line["rank_worst"]))
        told = (line["value"], "\N{EN DASH}".join(ranks))
        stage.compare((value, rank), told, f"side by side, {line['row']} {line['metric']}")
    stage.look("side-by-side")
    day = (datetime.now(UTC) - timedelta(days=14)).date()
    person.open(f"/streams/compare/before-after/?row=stream:{screens[0].client_id}&date={day}&weeks=2")
    sentences: list[str] = browser.execute_script(SENTENCES)
    stage.check(all(one.endswith(".") for one in sentences), f"before and after: {sentences}")
    stage.look("before-and-after")
    return [JourneyFigure("rows_side_by_side", len(found), at_least=2), JourneyFigure("sentences", len(sentences))]
