"""An agent that sends frames notices that its stream is now computed on the device, and switches where it can."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from testkit import Stack, TestStream

from onlooker_client.agent.sending.stream_watch import NOW_HERE
from onlooker_client.command import exit_codes

HURRIED = """
import sys
from onlooker_client.agent.sending import stream_watch
from onlooker_client.command.agent import main
from onlooker_client.device import journal_remains, upload
stream_watch.ASK_SOON_S = stream_watch.ASK_EVERY_S = 1.0
journal_remains.LOOK_EVERY_S = upload.FIRST_PAUSE_S = 0.5
sys.argv = ["onlooker-agent", "run", *sys.argv[1:]]
main()
"""


@contextmanager
def started(product: Stack, stream: TestStream, *options: str, state: Path) -> Iterator["subprocess.Popen[str]"]:
    """`onlooker-agent run` that asks every second."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")} | {
        "ONLOOKER_URL": product.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": product.ca_file,
        "XDG_STATE_HOME": str(state),
    }
    command = [sys.executable, "-c", HURRIED, *options, "--json"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_until(process: "subprocess.Popen[str]", event: str, words: str) -> dict[str, Any]:
    """The first line of the log with this event and these words."""
    assert process.stdout is not None
    for line in process.stdout:
        said: dict[str, Any] = json.loads(line)
        if said["event"] == event and words in said["message"]:
            return said
    raise AssertionError(f"the agent ended before it said: {words}")


def compute_on(product: Stack, stream: TestStream, where: str) -> None:
    product.execute("UPDATE streams_stream SET compute = %s WHERE id = %s RETURNING id", where, stream.id)


def test_a_running_agent_goes_to_the_device_and_back_as_its_stream_is_set(
    product: Stack, stream: TestStream, passing: str, tmp_path: Path
) -> None:
    pytest.importorskip("onlooker_models")
    options = [passing, "--loop"]
    with started(product, stream, *options, state=tmp_path) as process:
        read_until(process, "start", " to http")
        compute_on(product, stream, "device")
        read_until(process, "settings", NOW_HERE)
        read_until(process, "computation", "No picture leaves this device")
        compute_on(product, stream, "server")
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=20)
    assert process.returncode == exit_codes.OK, output
    with started(product, stream, *options, state=tmp_path) as process:
        read_until(process, "start", " to http")
        read_until(process, "journal", "sent beside the frames")
        read_until(process, "journal", "The journal is erased.")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode == exit_codes.OK
    assert not list(tmp_path.rglob("journal.db*"))
