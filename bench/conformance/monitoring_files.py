"""Alert rules and dashboards, checked by Prometheus's and Grafana's own tools; `just monitoring` runs it."""

import subprocess
import sys
from pathlib import Path

from bench.lib.product import conclude, concluding, say
from testkit.promql import PROMETHEUS, ROOT, alert_rules, alerts_that_tests_fire, all_queries, faults_of, panels

GRAFANA = ROOT / "deploy/grafana"
CHECKS: dict[str, tuple[list[str], Path]] = {
    "promtool check config": (["promtool", "check", "config", "prometheus.yml"], PROMETHEUS),
    "promtool test rules": (["promtool", "test", "rules", "alerts_test.yml"], PROMETHEUS),
    "dashboards are as generated": ([sys.executable, "operator_dashboards.py", "--check"], GRAFANA),
    "the analysts' dashboard is as generated": ([sys.executable, "analyst_dashboard.py", "--check"], GRAFANA),
    "dashboards fit Grafana's types": (["npm", "run", "--silent", "check"], GRAFANA / "schema"),
}
"""Command and folder by what it checks."""


def failed_checks() -> list[str]:
    failed = []
    for name, (command, folder) in CHECKS.items():
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        say(f"{name}: {'ok' if done.returncode == 0 else 'FAILED'}")
        if done.returncode:
            say(done.stdout + done.stderr)
            failed.append(name)
    return failed


@concluding
def main() -> None:
    rules, queries = {rule["alert"] for rule in alert_rules()}, all_queries()
    findings = failed_checks()
    findings += [f"no test fires {name}" for name in sorted(rules - alerts_that_tests_fire())]
    findings += [fault for query in queries for fault in faults_of(query)]
    for finding in findings:
        say(finding)
    conclude(
        {
            "ok": not findings,
            "rules": len(rules),
            "alerts_fired_by_tests": len(rules & alerts_that_tests_fire()),
            "panels": len(list(panels())),
            "queries": len(queries),
            "findings": len(findings),
            "findings_target": 0,
        }
    )


if __name__ == "__main__":
    main()
