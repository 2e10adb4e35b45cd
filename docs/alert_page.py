"""The reference of the alerts, from the rules for Prometheus."""

import re
from pathlib import Path
from typing import Any

import yaml
from client_page import Table

_LABEL = re.compile(r"\{\{ \$labels\.(\w+) \}\}")
_VALUE = re.compile(r"\{\{ \$value[^}]*\}\}")


def alert_page(rules: Path, table: Table) -> str:
    groups = yaml.safe_load(rules.read_text(encoding="utf-8"))["groups"]
    sections = [f"## {_title(group['name'])}\n\n{_rows(group['rules'], table)}" for group in groups]
    return "\n".join(
        [
            "# Alerts\n\nThe rules of [alerts.yml](../../deploy/prometheus/alerts.yml), which has their expressions: "
            "[how to use them](../guides/monitoring.md#alerts). Critical is for now, a warning for today. "
            "*Words like this* are filled in.\n",
            *sections,
        ]
    )


def _title(group: str) -> str:
    return group.removeprefix("onlooker-").capitalize()


def _rows(rules: list[dict[str, Any]], table: Table) -> str:
    rows: list[list[object]] = []
    for rule in rules:
        texts = rule["annotations"]
        section = texts["runbook"].removeprefix("docs/guides/")
        name = f"[{rule['alert']}](../guides/{section})"
        rows.append([name, rule["labels"]["severity"], rule.get("for", "at once"), _shown(texts["summary"]),
                     texts["description"]])  # fmt: skip
    return table(["alert", "severity", "after", "what it says", "what to do"], rows)


def _shown(template: str) -> str:
    return _VALUE.sub("*value*", _LABEL.sub(r"*\1*", template))
