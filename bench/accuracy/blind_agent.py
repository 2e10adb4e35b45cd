"""The same faults through the real agent, in real time: films of them, one agent each."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cv2

from bench.lib.product import say
from testkit import Stack, TestStream

AGENT = Path(sys.executable).with_name("onlooker-agent")
ENDS_WITHIN_S = 240.0
WRITTEN_WITHIN_S = 5.0
BLIND = "SELECT coalesce(sum(video_s), 0) FROM streams_blindness WHERE stream_id = %s AND fault = %s"
FALSE = "SELECT coalesce(sum(video_s), 0) FROM streams_blindness WHERE stream_id = %s AND fault <> %s"

Range = tuple[float, float]


def run_agents(stack: Stack, films: Mapping[str, tuple[str, Sequence[Any], Range]], *, fps: float) -> dict[str, Any]:
    """By film: its fault, its pictures, and how many seconds of the fault coverage may have. All at once."""
    with tempfile.TemporaryDirectory() as folder:
        streams = {name: stack.create_stream() for name in films}
        agents = []
        for name, (_, pictures, _) in films.items():
            path = Path(folder) / f"{name}.avi"
            write_film(path, pictures, fps=fps)
            agents.append(_start(stack, streams[name], path, fps=fps))
        for agent in agents:
            agent.wait(ENDS_WITHIN_S)
        frames = {name: read_counts(Path(folder) / f"{name}.json") for name in films}
    time.sleep(WRITTEN_WITHIN_S)
    found: dict[str, Any] = {}
    for name, (fault, _, (least_s, most_s)) in films.items():
        [[blind_s]], [[false_s]] = (stack.execute(query, streams[name].id, fault) for query in (BLIND, FALSE))
        is_right = least_s < blind_s <= most_s and not false_s
        found[name] = {"ok": is_right, "blind_s": round(blind_s, 1), "others_s": round(false_s, 1), **frames[name]}
        say(f"  {name} through the agent: {found[name]}")
    return found


def read_counts(health_file: Path) -> dict[str, Any]:
    """How many frames were answered and dropped: a machine that is too busy loses what is measured here."""
    counts = json.loads(health_file.read_text(encoding="utf-8"))["counts"]
    return {"answered": counts["answered"], "dropped": counts["dropped"]}


def write_film(path: Path, pictures: Sequence[Any], *, fps: float) -> None:
    height, width = pictures[0].shape
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), fps, (width, height), isColor=False)
    for picture in pictures:
        writer.write(picture)
    writer.release()


def _start(stack: Stack, stream: TestStream, film: Path, *, fps: float) -> subprocess.Popen[bytes]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ONLOOKER_")}
    environment |= {
        "ONLOOKER_URL": stack.url,
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
        "ONLOOKER_CA_FILE": stack.ca_file,
        "XDG_CONFIG_HOME": str(film.parent),
    }
    report = str(film.with_suffix(".json"))
    command = [str(AGENT), "run", str(film), "--fps", f"{fps:g}", "--health-file", report, "--quiet"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
