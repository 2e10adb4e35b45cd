"""The PromQL of alert rules and dashboards, and what is wrong with it beside what the product exports."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import promql_parser
import yaml
from promql_parser import AggModifierType, AggregateExpr, Expr, MatchOp, VectorSelector, walk

ROOT = Path(__file__).resolve().parents[1]
PROMETHEUS = ROOT / "deploy/prometheus"
DASHBOARDS = ROOT / "deploy/grafana/dashboards"
METRICS_PAGE = ROOT / "docs/reference/metrics.md"
GUIDE = ROOT / "docs/guides/monitoring.md"
SOURCES = (ROOT / "server/src", ROOT / "pipeline/src")

OF_TARGETS = {"job", "instance", "process"}
"""Labels that Prometheus and the targets' files give."""
OF_PROMETHEUS = {"up": set(), "ALERTS": {"alertname", "alertstate", "severity"}}
OF_CLIENT_LIBRARY = {
    *("process_start_time_seconds", "process_cpu_seconds_total", "process_resident_memory_bytes"),
    *("process_open_fds", "process_max_fds"),
}
"""Every process exports these; they are not of ours."""
RATE_INTERVAL = "5m"
"""What stands for Grafana's `$__rate_interval` outside of Grafana."""
_ROW = re.compile(r"^\| `(\w+)` \| (counter|gauge|histogram) \| ([^|]*) \|", re.MULTILINE)
_TABLE_QUERY = re.compile(r"^\|[^|]+\| `([^`]+)`", re.MULTILINE)


@dataclass(frozen=True)
class Query:
    """An expression and where it stands."""

    where: str
    expression: str


def alert_rules() -> list[dict[str, Any]]:
    groups = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def alerts_that_tests_fire() -> set[str]:
    """Alerts that `promtool test rules` expects to fire."""
    tests = yaml.safe_load((PROMETHEUS / "alerts_test.yml").read_text(encoding="utf-8"))["tests"]
    checks = [check for test in tests for check in test["promql_expr_test"] if check["exp_samples"]]
    return {name for check in checks for name in re.findall(r'alertname="(\w+)"', check["expr"])}


def panels() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every panel with queries, after the name of its dashboard."""
    for path in sorted(DASHBOARDS.glob("*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            if panel["type"] != "row":
                yield path.stem, panel


def dashboard_queries() -> list[Query]:
    return [
        Query(f"{name}: {panel['title']}", target["expr"].replace("$__rate_interval", RATE_INTERVAL))
        for name, panel in panels()
        for target in panel["targets"]
    ]


def guide_queries() -> list[Query]:
    """Those of the guide's table."""
    found = _TABLE_QUERY.findall(GUIDE.read_text(encoding="utf-8").partition("\n## What to look at\n")[2])
    return [Query("guide", text.replace("\\|", "|")) for text in found if "onlooker_" in text]


def all_queries() -> list[Query]:
    alerts = [Query(rule["alert"], rule["expr"]) for rule in alert_rules()]
    return [*alerts, *dashboard_queries(), *guide_queries()]


@cache
def exported_series() -> dict[str, set[str]]:
    """Labels of each series by its name, as the reference lists the metrics."""
    found = {name: set(labels) for name, labels in OF_PROMETHEUS.items()} | {name: set() for name in OF_CLIENT_LIBRARY}
    for name, kind, listed in _ROW.findall(METRICS_PAGE.read_text(encoding="utf-8")):
        labels = set(re.findall(r"`(\w+)`", listed))
        if kind == "histogram":
            found |= {f"{name}_bucket": labels | {"le"}, f"{name}_sum": labels, f"{name}_count": labels}
        else:
            found[name] = labels
    return found


@cache
def _source() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for folder in SOURCES for path in sorted(folder.rglob("*.py")))


def faults_of(query: Query) -> list[str]:
    """An expression that can't be parsed, unknown series, labels that a series lacks, values that the source lacks."""
    try:
        expression = promql_parser.parse(query.expression)
    except ValueError as error:
        return [f"{query.where}: {error}"]
    faults = [fault for selector in selectors_in(expression) for fault in _selector_faults(selector)]
    for group in _aggregations_in(expression):
        inside = [exported_series().get(selector.name or "", set()) for selector in selectors_in(group.expr)]
        named = set(group.modifier.labels) if group.modifier and group.modifier.type == AggModifierType.By else set()
        faults += [f"no series has the label {label}" for label in named - OF_TARGETS - set().union(*inside)]
    return [f"{query.where}: {fault}" for fault in faults]


def selectors_in(expression: Expr) -> list[VectorSelector]:
    found: list[VectorSelector] = []
    walk(expression, pre_visit=lambda node: found.append(node) if isinstance(node, VectorSelector) else None)
    return found


def _aggregations_in(expression: Expr) -> list[AggregateExpr]:
    found: list[AggregateExpr] = []
    walk(expression, pre_visit=lambda node: found.append(node) if isinstance(node, AggregateExpr) else None)
    return found


def _selector_faults(selector: VectorSelector) -> Iterator[str]:
    name = selector.name or ""
    if name not in exported_series():
        yield f"{name} is not exported"
        return
    for matcher in selector.matchers.matchers:
        if matcher.name in OF_TARGETS:
            continue
        if matcher.name not in exported_series()[name]:
            yield f"{name} has no label {matcher.name}"
        elif name not in OF_PROMETHEUS and matcher.name != "status":
            is_pattern = matcher.op in (MatchOp.Re, MatchOp.NotRe)
            values = matcher.value.split("|") if is_pattern else [matcher.value]
            yield from (f'{name} is never counted as "{value}"' for value in values if not _is_in_source(value))


def _is_in_source(value: str) -> bool:
    return not value or re.search(rf"""["']{re.escape(value)}["']|def {re.escape(value)}\(""", _source()) is not None
