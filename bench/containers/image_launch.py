"""`onlooker up` from the image, in a container that is as closed as those of compose.yaml."""

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from bench.containers.engine import NAME, ContainerEngine
from testkit import Launch

CLOSED = ("--rm", "--read-only", "--cap-drop=all", "--security-opt=no-new-privileges")
CONTAINER = "onlooker-up"
USER = 10001


@dataclass(frozen=True)
class ImageLaunch(Launch):
    """Run it within `isolated`, whose network the container shares: it finds PostgreSQL, and is found, on loopback."""

    engine: ContainerEngine = field(kw_only=True)
    readable: tuple[Path, ...] = ()
    """Files that settings name."""

    def start(self, environment: dict[str, str], log: IO[bytes], folder: Path) -> subprocess.Popen[bytes]:
        os.chown(folder, USER, USER)
        settings = [f"--env={name}" for name in environment if name.startswith("ONLOOKER_")]
        volumes = [f"--volume={folder}:{folder}", *(f"--volume={path}:{path}:ro" for path in self.readable)]
        container = [f"--name={CONTAINER}", "--init", "--network=host", "--stop-timeout=60"]
        return subprocess.Popen(
            ["podman", "run", *container, *CLOSED, *settings, *volumes, NAME, "onlooker", "up"],
            env=self.engine.environment | environment,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
