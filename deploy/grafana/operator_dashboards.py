"""Writes the operators' dashboards for Grafana; with --check, fails if the committed files are stale."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FILES = HERE / "dashboards"
SCHEMA_VERSION = 39
"""Of Grafana 10 and 11; newer ones migrate it when they load it."""
WIDTH, HEIGHT = 8, 8
COLUMNS = 24
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


@dataclass(frozen=True)
class Plot:
    """One panel: its queries by the legend of their series."""

    title: str
    meaning: str
    unit: str
    queries: dict[str, str]
    kind: str = "timeseries"


def per_second(metric: str, *, by: str = "") -> str:
    return f"sum{f' by ({by})' if by else ''} (rate({metric}[$__rate_interval]))"


def quantile(share: float, metric: str, *, by: str = "") -> str:
    labels = ", ".join(["le", by] if by else ["le"])
    return f"histogram_quantile({share}, sum by ({labels}) (rate({metric}[$__rate_interval])))"


def slowest(title: str, meaning: str, metric: str, *, by: str) -> Plot:
    return Plot(title, meaning, "s", {f"{{{{{by}}}}}": quantile(0.95, metric, by=by)})


HEALTH = (
    Plot(
        "Alerts",
        "Alerts that fire now. Prometheus lists them under Alerts.",
        "short",
        {"alerts": 'count(ALERTS{alertstate="firing", alertname=~"Onlooker.*"}) or vector(0)'},
        "stat",
    ),
    Plot(
        "Processes that do not answer",
        "Targets whose metrics Prometheus could not read.",
        "short",
        {"processes": 'count(up{job="onlooker"} == 0) or vector(0)'},
        "stat",
    ),
    Plot(
        "Live workers",
        "As the gateway that sees the fewest sees them.",
        "short",
        {"workers": 'min(onlooker_live_workers{process="gateway"})'},
        "stat",
    ),
)
TRAFFIC = (
    Plot("Requests", "Answered requests a second.", "reqps", {"{{route}}": per_second("onlooker_requests_total", by="route")}),
    Plot("Jobs", "Jobs and frames a second, and what came of them.", "ops", {"{{service}} {{state}}": per_second("onlooker_jobs_total", by="service, state")}),
    Plot("Refused requests", "By the code of the problem. Codes: docs/reference/errors.md.", "reqps", {"{{code}}": per_second("onlooker_refusals_total", by="code")}),
    Plot("Failed jobs", "By the `error_code` of the result.", "ops", {"{{service}} {{reason}}": per_second('onlooker_jobs_total{reason!=""}', by="service, reason")}),
    Plot("Connections", "Open connections of each process.", "short", {"{{process}} {{instance}}": "onlooker_connections"}),
    Plot("Refused connections", "Closed at once, and why.", "cps", {"{{reason}}": per_second("onlooker_connections_refused_total", by="reason")}),
    Plot("Streams refused most", "The ten streams with the most refusals: who a bad neighbour is.", "reqps", {"{{stream}} {{code}}": f"topk(10, {per_second('onlooker_stream_refusals_total', by='stream, code')})"}),
    Plot("Pages", "Requests of the console a second, by status.", "reqps", {"{{status}}": per_second("onlooker_console_requests_total", by="status")}),
    Plot("Numbers", "Requests of the data endpoint a second, by status.", "reqps", {"{{status}}": per_second("onlooker_data_requests_total", by="status")}),
)
LATENCY = (
    Plot(
        "Jobs",
        "From the first byte of a request that creates a job to the end of its response.",
        "s",
        {
            f"{share:.0%}": quantile(share, 'onlooker_request_seconds_bucket{route="create_job"}')
            for share in (0.5, 0.95, 0.99)
        },
    ),
    slowest("Requests, 95 %", "By route.", "onlooker_request_seconds_bucket", by="route"),
    slowest("Computing, 95 %", "Time a worker spent on a job, as gateways and dispatchers saw it.", "onlooker_job_compute_seconds_bucket", by="service"),
    slowest("Pages, 95 %", "Time to answer a request of the console.", "onlooker_console_request_seconds_bucket", by="route"),
    slowest("Numbers, 95 %", "Time to answer a request of the data endpoint.", "onlooker_data_request_seconds_bucket", by="route"),
    Plot("Live dashboards", "Dashboards that consoles keep live, and those refused a second.", "short", {"live": "sum(onlooker_console_live)", "refused: {{reason}}": per_second("onlooker_console_live_refused_total", by="reason")}),
)
QUEUES = (
    slowest("Queue, 95 %", "From sending a job to a worker until the worker starts it.", "onlooker_job_queue_seconds_bucket", by="service"),
    slowest("Queue as workers see it, 95 %", "The same, measured by the workers.", "onlooker_worker_queue_seconds_bucket", by="service"),
    Plot("Accepted and finished", "Jobs that are computed later: where fewer finish than are accepted, they pile up.", "ops", {"{{state}}": per_second('onlooker_jobs_total{state=~"accepted|finished"}', by="state")}),
    Plot("Jobs sent again", "And why.", "ops", {"{{reason}}": per_second("onlooker_job_resends_total", by="reason")}),
    Plot("Refused for lack of capacity", "Requests a second with the code `overloaded`.", "reqps", {"gateway": per_second('onlooker_refusals_total{code="overloaded"}'), "data": per_second('onlooker_data_refusals_total{code="overloaded"}')}),
    Plot("Skipped frames", "Answered without being analysed.", "ops", {"{{reason}}": per_second("onlooker_frames_skipped_total", by="reason")}),
)
WORKERS = (
    Plot("Live workers", "As each gateway and dispatcher sees them.", "short", {"{{process}} {{instance}}": 'onlooker_live_workers{process=~"gateway|dispatcher"}'}),
    Plot("Tasks", "By how they ended.", "ops", {"{{outcome}}": per_second("onlooker_worker_jobs_total", by="outcome")}),
    slowest("Computing, 95 %", "Measured by the workers.", "onlooker_worker_compute_seconds_bucket", by="service"),
    Plot("Session states read", "conflict: two workers compute the same session.", "ops", {"{{reason}}": per_second("onlooker_worker_session_loads_total", by="reason")}),
    Plot("CPU", "Cores that each process uses; computing processes are not included.", "short", {"{{process}} {{instance}}": 'rate(process_cpu_seconds_total{job="onlooker"}[$__rate_interval])'}),
    Plot("Memory", "Of each process; computing processes are not included.", "bytes", {"{{process}} {{instance}}": 'process_resident_memory_bytes{job="onlooker"}'}),
    Plot("Open files", "Share of the files that a process may open.", "percentunit", {"{{process}} {{instance}}": 'process_open_fds{job="onlooker"} / process_max_fds{job="onlooker"}'}),
    Plot("Clocks", "How far each machine's clock is ahead of the database's, and the clocks of workers that get no jobs because of theirs.", "s", {"{{process}} {{instance}}": "onlooker_clock_offset_seconds", "worker {{worker}}": "onlooker_worker_clock_offset_seconds"}),
)
CONFINEMENT = (
    Plot("Confined workers", "Workers whose computing process can do nothing but compute, and those with ONLOOKER_CONFINEMENT=off.", "short", {"confined": 'sum(onlooker_worker_confined{process="worker"})', "not confined": 'count(onlooker_worker_confined{process="worker"} == 0) or vector(0)'}),
    Plot("Computing processes that ended", "violation: a forbidden system call. Those that were killed are among SIGKILL.", "short", {"{{reason}}": "sum by (reason) (increase(onlooker_worker_processes_ended_total[$__rate_interval]))"}),
    Plot("Computing processes that were killed", "By their worker: overdue, untrue, replaced after many jobs, evicted for another stream.", "short", {"{{reason}}": "sum by (reason) (increase(onlooker_worker_processes_killed_total[$__rate_interval]))"}),
)
BUS = (
    Plot("Buckets", "Share of each bucket's disk that is used. At 100 % results vanish early, and visits are refused.", "percentunit", {"{{bucket}}": "max by (bucket) (onlooker_bucket_filled)"}),
    Plot("Records that vanish early", "By how many seconds the oldest record of a full bucket is too young.", "s", {"{{bucket}}": "max by (bucket) (onlooker_bucket_short_seconds)"}),
    Plot("Visits sent by workers", "refused: the bus did not take them, and frames wait.", "ops", {"{{outcome}}": per_second("onlooker_worker_visits_total", by="outcome")}),
    Plot("Results not stored", "Returned, but a later GET is 404.", "ops", {"results": per_second("onlooker_results_not_stored_total")}),
    Plot("Deleted after their time", "By kind.", "ops", {"{{kind}}": per_second("onlooker_swept_total", by="kind")}),
)
RECORDER = (
    Plot("Visits that wait", "Messages on the bus that no recorder has finished.", "short", {"waiting": "max(onlooker_recorder_waiting)"}),
    Plot("Visits", "By what came of them; revisions included.", "ops", {"{{outcome}}": per_second("onlooker_recorder_visits_total", by="outcome")}),
    Plot("Batches", "Time to write one batch of visits.", "s", {"50 %": quantile(0.5, "onlooker_recorder_batch_seconds_bucket"), "95 %": quantile(0.95, "onlooker_recorder_batch_seconds_bucket")}),
    Plot("Refused and put aside", "Visits that could not be written: the table visits_putaside has them.", "short", {"refused: {{reason}}": "sum by (reason) (increase(onlooker_recorder_refused_total[$__rate_interval]))", "put aside: {{reason}}": "sum by (reason) (increase(onlooker_recorder_put_aside_total[$__rate_interval]))"}),
    Plot("Sessions closed", "By how they ended.", "ops", {"{{how}}": per_second("onlooker_recorder_sessions_closed_total", by="how")}),
    Plot("Deleted after retention", "By kind.", "ops", {"{{kind}}": per_second("onlooker_recorder_removed_total", by="kind")}),
    Plot("Slots that wait", "Slots of the roll-up that are filled again: numbers are right meanwhile, but slower.", "short", {"marked": "max(onlooker_metrics_slots_marked)"}),
    Plot("Slots filled", "A second.", "ops", {"filled": per_second("onlooker_metrics_slots_filled_total")}),
)
DATABASE = (
    slowest("Queries for numbers, 95 %", "Time to query the database for one page.", "onlooker_data_query_seconds_bucket", by="time"),
    Plot("Standby", "How far the standby for numbers lags, and whether it is read (1) or the primary (0). Without a standby both are 0.", "s", {"lag {{process}} {{instance}}": "onlooker_standby_lag_seconds", "in use {{process}} {{instance}}": "onlooker_standby_in_use"}),
    Plot("Refused numbers", "By the code of the problem.", "reqps", {"{{code}}": per_second("onlooker_data_refusals_total", by="code")}),
    Plot("Chores", "Runs of periodic work; without a database there are none.", "ops", {"{{outcome}}": per_second("onlooker_console_chores_total", by="outcome")}),
    Plot("E-mails", "By kind and outcome.", "short", {"{{kind}} {{outcome}}": "sum by (kind, outcome) (increase(onlooker_console_mails_total[$__rate_interval]))"}),
)
DASHBOARDS = {
    "overview": ("Onlooker: overview", {"Health": HEALTH, "Traffic": TRAFFIC, "Latency": LATENCY}),
    "workers": ("Onlooker: workers", {"Queues": QUEUES, "Workers": WORKERS, "Confinement": CONFINEMENT}),
    "storage": ("Onlooker: storage", {"Bus": BUS, "Recorder": RECORDER, "Database": DATABASE}),
}
"""By file name: title, and plots by row."""


def panel_of(plot: Plot, number: int, *, x: int, y: int) -> dict[str, Any]:
    targets = [
        {"refId": chr(ord("A") + index), "datasource": DATASOURCE, "expr": query, "legendFormat": legend}
        for index, (legend, query) in enumerate(plot.queries.items())
    ]
    shared: dict[str, Any] = {
        "id": number,
        "type": plot.kind,
        "title": plot.title,
        "description": plot.meaning,
        "datasource": DATASOURCE,
        "gridPos": {"x": x, "y": y, "w": WIDTH, "h": HEIGHT if plot.kind == "timeseries" else HEIGHT // 2},
        "targets": targets,
    }
    if plot.kind == "stat":
        calculated = {"calcs": ["lastNotNull"], "fields": "", "values": False}
        return shared | {
            "fieldConfig": {"defaults": {"unit": plot.unit}, "overrides": []},
            "options": {"reduceOptions": calculated, "colorMode": "value", "graphMode": "area"},
        }
    legend = {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []}
    return shared | {
        "fieldConfig": {
            "defaults": {"unit": plot.unit, "custom": {"fillOpacity": 10, "showPoints": "never", "spanNulls": False}},
            "overrides": [],
        },
        "options": {"legend": legend, "tooltip": {"mode": "multi", "sort": "desc"}},
    }


def dashboard_of(name: str) -> dict[str, Any]:
    title, rows = DASHBOARDS[name]
    panels: list[dict[str, Any]] = []
    y = 0
    for heading, plots in rows.items():
        at = {"x": 0, "y": y, "w": COLUMNS, "h": 1}
        panels.append(
            {"id": len(panels) + 1, "type": "row", "title": heading, "collapsed": False, "gridPos": at, "panels": []}
        )
        y += 1
        for index, plot in enumerate(plots):
            x = index * WIDTH % COLUMNS
            panels.append(panel_of(plot, len(panels) + 1, x=x, y=y))
            if x + WIDTH == COLUMNS or index == len(plots) - 1:
                y += panels[-1]["gridPos"]["h"]
    source = {"name": "datasource", "label": "Prometheus", "type": "datasource", "query": "prometheus"}
    return {
        "uid": f"onlooker-{name}",
        "title": title,
        "description": "Generated by deploy/grafana/operator_dashboards.py. Guide: docs/guides/monitoring.md",
        "tags": ["onlooker"],
        "timezone": "browser",
        "schemaVersion": SCHEMA_VERSION,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [source]},
        "links": [{"title": "Onlooker", "type": "dashboards", "tags": ["onlooker"], "asDropdown": False,
                   "icon": "external link", "includeVars": True, "keepTime": True, "targetBlank": False, "tooltip": ""}],
        "panels": panels,
    }


def rendered() -> dict[Path, str]:
    """The text of every file by its path."""
    return {FILES / f"{name}.json": json.dumps(dashboard_of(name), indent=2) + "\n" for name in DASHBOARDS}


def stale_dashboards() -> list[Path]:
    return [path for path, text in rendered().items() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main(arguments: list[str]) -> str | None:
    """Write the files, or with --check return what is wrong."""
    if arguments == ["--check"]:
        stale = ", ".join(str(path.relative_to(HERE)) for path in stale_dashboards())
        return f"Stale: {stale}. Run: python deploy/grafana/operator_dashboards.py" if stale else None
    if arguments:
        return "usage: python deploy/grafana/operator_dashboards.py [--check]"
    FILES.mkdir(exist_ok=True)
    for path, text in rendered().items():
        path.write_text(text, encoding="utf-8")
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
