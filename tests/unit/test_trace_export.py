"""Traces are loaded only where they are set; a collector that is away is said once, and costs no job."""

import os
import subprocess
import sys

import pytest

from onlooker.settings import SettingsError, read_settings

PROCESSES = ("onlooker.gateway.app", "onlooker.gateway.queue.dispatcher", "onlooker.compute.worker")
AWAY = """
import logging, sys
logging.basicConfig(format="%(levelname)s %(name)s %(message)s")
from opentelemetry import trace
from prometheus_client import generate_latest
from onlooker.bus import traces
from onlooker.settings import Settings

traces.SEND_LIMIT_S = 0.1
traces.start_traces(Settings(traces_url="http://127.0.0.1:9/v1/traces", traces_ratio=1), "gateway", "gateway")
for _ in range(3):
    with traces.span("request"):
        pass
    trace.get_tracer_provider().force_flush()
sys.stdout.write(generate_latest().decode())
"""


def test_without_the_setting_nothing_of_it_is_loaded() -> None:
    script = f"import sys, {', '.join(PROCESSES)}; print([name for name in sys.modules if 'opentelemetry' in name"
    script += " or 'traces' in name])"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


def test_spans_are_counted_and_a_collector_that_is_away_is_said_once() -> None:
    ran = subprocess.run([sys.executable, "-c", AWAY], capture_output=True, text=True, check=True)
    assert 'onlooker_trace_spans_total{outcome="lost"} 3.0' in ran.stdout
    assert [line for line in ran.stderr.splitlines() if line] == ["WARNING onlooker.bus.traces traces can't be sent"]


def test_a_missing_package_is_a_sentence_with_the_remedy() -> None:
    script = "import sys; sys.modules['opentelemetry'] = None; from onlooker.cli import main; main(['gateway'])"
    environment = os.environ | {"ONLOOKER_TRACES_URL": "http://127.0.0.1:4318/v1/traces"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 2
    assert "ONLOOKER_TRACES_URL is set" in done.stderr
    assert "requirements-traces.txt" in done.stderr


@pytest.mark.parametrize("url", ["collector:4318", "http://user:secret@collector:4318/v1/traces", "grpc://collector/"])
def test_an_address_with_a_credential_or_another_protocol_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="ONLOOKER_TRACES_URL"):
        read_settings({"ONLOOKER_TRACES_URL": url})
