"""Whether a device that computes leaves anything of a picture on its disk or its line; and whether this can fail."""

import argparse
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import psutil

from bench.lib.product import ROOT, conclude, concluding, running_product, say
from bench.privacy.trace import strace, written_files
from onlooker.proof.file_watch import FileWatch
from onlooker.proof.picture_traces import Grey, PictureMarks, find_traces
from onlooker.proof.planted import find_planted
from onlooker_client.jpeg import JpegEncoder
from testkit import Stack, TestStream

SECONDS = 90.0
EVERY = 3
"""Of the film's frames; neighbours are alike."""
PIECE_BYTES = 1 << 16


class LineRecorder:
    """Forwards TCP to a port of this machine, and keeps what the client sends."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.sent: list[bytes] = []
        """Of each connection, in order."""
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                number = len(self.sent)
                self.sent.append(b"")
                threading.Thread(target=self._forward, args=(client, server, number), daemon=True).start()
                threading.Thread(target=self._forward, args=(server, client, None), daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket, number: int | None) -> None:
        with suppress(OSError):
            while piece := source.recv(PIECE_BYTES):
                if number is not None:
                    self.sent[number] += piece
                sink.sendall(piece)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def film_frames(film: Path) -> list[Grey]:
    """As the agent hands them to the computing process."""
    frames: list[Grey] = []
    encoder, reader = JpegEncoder(), cv2.VideoCapture(str(film))
    while True:
        is_there, picture = reader.read()
        if not is_there:
            return frames[::EVERY]
        frames.append(np.asarray(encoder.scaled(picture), np.uint8))


def run_agent(stack: Stack, stream: TestStream, film: Path, folder: Path, *, seconds: float) -> dict[str, Any]:
    """The agent in device mode with a home of its own; what it wrote and sent."""
    home = folder / "home"
    for part in ("tmp", "config", "state", "cache"):
        (home / part).mkdir(parents=True)
    line = LineRecorder(int(stack.setting("http_port")))
    disk = FileWatch([home])
    disk.start()
    variables = {
        "PATH": stack.environment["PATH"],
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "ONLOOKER_URL": f"http://127.0.0.1:{line.port}",
        "ONLOOKER_CLIENT_ID": stream.client_id,
        "ONLOOKER_ACCESS_TOKEN": stream.access_token,
    }
    trace = folder / "trace"
    before = strace(trace) if shutil.which("strace") else []
    command = [str(Path(sys.executable).parent / "onlooker-agent"), "run", str(film), "--loop", "--compute", "device"]
    options = ["--health-file", str(home / "health.json"), "--verbose"]
    with (home / "agent.log").open("wb") as log:
        agent = subprocess.Popen([*before, *command, *options], env=variables, stdout=log, stderr=log)
    time.sleep(seconds)
    for process in psutil.Process(agent.pid).children() if before else [agent]:  # strace keeps signals to itself
        process.terminate()
    agent.wait(60)
    disk.stop()
    line.close()
    expected = [re.compile(re.escape(str(home)) + "(/.*)?")]
    elsewhere = written_files(trace.read_text().splitlines(), expected=expected) if before else None
    files = [(str(path.relative_to(home)), content) for path, content in disk.contents]
    return {"files": files, "line": line.sent, "elsewhere": elsewhere, "code": agent.returncode, "home": home}


def scan(run: dict[str, Any], marks: PictureMarks) -> list[str]:
    """Where something of a picture was found."""
    found = [f"{name}: {trace}" for name, content in run["files"] for trace in find_traces(content, marks)]
    return found + [f"line: {trace}" for content in run["line"] for trace in find_traces(content, marks)]


def measure(stack: Stack, folder: Path, *, seconds: float) -> dict[str, Any]:
    film = folder / "passing.mp4"
    subprocess.run([sys.executable, str(ROOT / "docs" / "make_passing.py"), str(film)], check=True, timeout=120)
    frames = film_frames(film)
    marks = PictureMarks(frames)
    say(f"{len(frames)} frames, {len(marks)} pieces of them and of smaller versions")
    planted = find_planted(frames[len(frames) // 2], marks)
    stream = stack.create_stream()
    run = run_agent(stack, stream, film, folder, seconds=seconds)
    traces = scan(run, marks)
    visits = int(stack.execute("SELECT count(*) FROM visits_visit WHERE stream_id = %s", stream.id)[0][0])
    sizes = Counter({name: max(0, len(content)) for name, content in run["files"]})
    ok = not traces and all(planted.values()) and visits > 0 and not run["elsewhere"] and run["code"] == 0
    if not ok:
        say((run["home"] / "agent.log").read_text()[-3000:])
    return {
        "ok": ok,
        "traces": traces[:20],
        "traces_target": 0,
        "planted_found": planted,
        "visits_counted": visits,
        "files_scanned": len(run["files"]),
        "file_bytes_scanned": sum(len(content) for _, content in run["files"]),
        "files": dict(sizes),
        "line_bytes_scanned": sum(map(len, run["line"])),
        "written_elsewhere": run["elsewhere"],
        "seconds": seconds,
    }


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=SECONDS)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="onlooker-traces-") as folder, running_product(log_level="info") as stack:
        figures = measure(stack, Path(folder), seconds=arguments.seconds)
    conclude(figures)


if __name__ == "__main__":
    main()
