"""Plays compose.yaml by the guide's commands: from nothing to the first counted person, a film, an upgrade."""

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.accuracy.scene_report import COUNT_ERROR
from bench.containers.container_files import compose_findings
from bench.containers.engine import ISOLATED, NAME, STAND_INS, ContainerEngine
from bench.containers.guide_commands import GuideShell, blocks_of
from bench.journeys.product.device import Device
from bench.journeys.product.films import FILMED, Film, choose_clip
from bench.journeys.product.numbers import Numbers, ask_numbers
from bench.lib.debian_root import require_archive, unpacked_root
from bench.lib.product import conclude, concluding, say
from onlooker_client import Client

FIRST_PERSON_TARGET_S = 300.0
NUMBERS_LIMIT_S = 75.0
NEXT = "localhost/onlooker:next"
OURS = ("gateway", "dispatcher", "recorder", "worker", "console", "data")
RUNNING = ("postgres", "nats", *OURS, "proxy")
UNREACHABLE = {"worker": ("postgres", 5432), "data": ("nats", 4322), "recorder": ("gateway", 8081)}
"""What a service must not reach: there is no arrow to it in ARCHITECTURE.md."""
_CONNECTS = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 3)"


class ComposeRun:
    """The containers of one run, and what the person at the terminal knows of them."""

    def __init__(self, engine: ContainerEngine, shell: GuideShell) -> None:
        self.engine = engine
        self.shell = shell

    def container(self, service: str) -> str:
        found = self.engine.run(["podman", "ps", "--all", "--format", "{{.Names}}"]).split()
        (name,) = [one for one in found if re.fullmatch(rf"onlooker[-_]{service}[-_]1", one)]
        return name

    def unhealthy(self, *, limit_s: float = 60) -> list[str]:
        """Services whose own health check fails, also after a while."""
        waiting, give_up_at = list(RUNNING), time.monotonic() + limit_s
        while waiting and time.monotonic() < give_up_at:
            waiting = [
                one
                for one in waiting
                if not self.engine.succeeds(["podman", "healthcheck", "run", self.container(one)])
            ]
            if waiting:
                time.sleep(1)
        return waiting

    def is_confined(self) -> bool:
        """As the worker itself reports it."""
        said = self.engine.run(["podman", "exec", self.container("worker"), "python", "-m", "onlooker.health_check"])
        return json.loads(said).get("confined") is True

    def not_contained(self) -> list[str]:
        """Services whose container is more than the guide says."""
        found = []
        for service in RUNNING:
            (known,) = json.loads(self.engine.run(["podman", "container", "inspect", self.container(service)]))
            uid = self.engine.run(["podman", "exec", self.container(service), "id", "-u"]).strip()
            host = known["HostConfig"]
            is_closed = host["ReadonlyRootfs"] and not known["EffectiveCaps"] and host["Memory"] and host["PidsLimit"]
            if not is_closed or uid == "0" or "no-new-privileges" not in str(host["SecurityOpt"]):
                found.append(service)
        return found

    def reaching_too_far(self) -> list[str]:
        found = []
        for service, (host, port) in UNREACHABLE.items():
            command = ["podman", "exec", self.container(service), "python", "-c", _CONNECTS, host, str(port)]
            if self.engine.succeeds(command):
                found.append(f"{service} reaches {host}:{port}")
        return found

    def client(self) -> Client:
        login, password = self.shell.variable("CLIENT_ID"), self.shell.variable("ACCESS_TOKEN")
        return Client(
            "https://localhost:8443", login, password, ca_file=str(self.authority), username="you@example.org"
        )

    def say_logs(self) -> None:
        """Of all containers, for the person who looks for the fault."""
        for name in self.engine.run(["podman", "ps", "--all", "--format", "{{.Names}}"]).split():
            done = subprocess.run(
                ["podman", "logs", "--tail", "15", name],
                env=self.engine.environment,
                check=False,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            say(f"--- {name}\n{done.stdout}")

    @property
    def authority(self) -> Path:
        return self.shell.clone / "deploy" / "compose" / "secrets" / "authority.pem"


def start(run: ComposeRun) -> dict[str, Any]:
    """The five-minute start from an empty Debian; the numbers of its last step tell whether the person was counted."""
    began = time.monotonic()
    run.shell.prepare()
    packages_s = time.monotonic() - began
    steps = [run.shell.run(block) for block in blocks_of("Five-minute start")]
    counted = re.search(r'"passing_by":\{"value":(\d+)\}', steps[-1].out)
    for number, step in enumerate(steps, 1):
        say(f"step {number}: {step.seconds:.1f} s")
    return {
        "first_person": int(counted[1]) if counted else 0,
        "first_person_s": round(time.monotonic() - began, 1),
        "first_person_target_s": FIRST_PERSON_TARGET_S,
        "packages_s": round(packages_s, 1),
        "up_s": round(steps[0].seconds, 1),
        "serves_s": round(steps[0].seconds + steps[1].seconds, 1),
    }


def play_film(run: ComposeRun, film: Film, folder: Path) -> dict[str, Any]:
    """The agent on a device, with the film as its camera; then until the counts are right, or for too long."""
    device = Device(folder / "device", folder / "output")
    device.home.mkdir()
    begins_at = datetime.now(UTC) - timedelta(seconds=1)
    line = ["onlooker-agent", "run", str(film.path), "--url", "https://localhost:8443", "--ca", str(run.authority)]
    secret = {
        "ONLOOKER_CLIENT_ID": run.shell.variable("CLIENT_ID"),
        "ONLOOKER_ACCESS_TOKEN": run.shell.variable("ACCESS_TOKEN"),
    }
    done = subprocess.run(
        line,
        env=device.environment | secret,
        cwd=device.home,
        capture_output=True,
        text=True,
        timeout=120 + 2 * film.duration_s,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the agent ended with {done.returncode}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    give_up_at = time.monotonic() + NUMBERS_LIMIT_S
    with run.client() as client:
        numbers = ask_numbers(client, begins_at)
        while not numbers.has_counts_of(film) and time.monotonic() < give_up_at:
            time.sleep(1)
            numbers = ask_numbers(client, begins_at)
    return {
        "film": film.name,
        "film_passing": numbers.passing_by,
        "film_passing_true": film.passing,
        "film_passing_error": abs((numbers.passing_by or 0) - film.passing) / max(film.passing, 1),
        "film_passing_error_target": COUNT_ERROR,
        "film_interested": numbers.interested,
        "film_interested_true": film.interested,
    }


def upgrade(run: ComposeRun, since: datetime) -> dict[str, Any]:
    """To an image of another name, by the guide's command: all containers of ours are replaced, all numbers stay."""
    before = numbers_since(run, since)
    ids = {
        service: run.engine.run(["podman", "inspect", "--format", "{{.Id}}", run.container(service)])
        for service in OURS
    }
    run.engine.run(["podman", "tag", NAME, NEXT])
    run.shell.run(f"sed -i 's#^ONLOOKER_IMAGE=.*#ONLOOKER_IMAGE={NEXT}#' .env")
    (command,) = blocks_of("Upgrade")
    said = run.shell.run(command)
    unhealthy = run.unhealthy()
    kept = [
        service
        for service in OURS
        if run.engine.run(["podman", "inspect", "--format", "{{.Id}}", run.container(service)]) == ids[service]
    ]
    return {
        "upgrade_s": round(said.seconds, 1),
        "upgrade_ok": not unhealthy and not kept and numbers_since(run, since) == before,
    }


def numbers_since(run: ComposeRun, since: datetime) -> Numbers:
    give_up_at = time.monotonic() + NUMBERS_LIMIT_S
    while True:
        with suppress(Exception), run.client() as client:
            return ask_numbers(client, since, datetime.now(UTC) - timedelta(seconds=1))
        if time.monotonic() > give_up_at:
            raise RuntimeError("the data endpoint does not answer")
        time.sleep(1)


def prepare_and_isolate(chosen: Path | None, clip: str) -> int:
    """Images first, which takes a network; then all else without one. The exit code of the second half."""
    folder = chosen or Path(tempfile.mkdtemp(prefix="onlooker-engine-"))
    engine = ContainerEngine(folder)
    engine.configure()
    try:
        if not engine.has_image(NAME):
            say("building the image ...")
            engine.build(NAME)
        engine.assemble_stand_ins()
        require_archive()
        command = [sys.executable, "-m", "bench.containers.compose_start", "--isolated"]
        isolated = [str(ISOLATED), *command, "--folder", str(folder), "--clip", clip]
        return subprocess.run(isolated, check=False, timeout=1200).returncode
    finally:
        if chosen is None:
            engine.remove()


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, help="of the images of `just image --folder`; else they are built first")
    parser.add_argument(
        "--isolated", action="store_true", help="the second half: images are there, the network is its own"
    )
    parser.add_argument("--clip", default=FILMED, help=f"name of the labelled scene that is the camera; else {FILMED}")
    chosen = parser.parse_args()
    if not chosen.isolated:
        sys.exit(prepare_and_isolate(chosen.folder, chosen.clip))
    engine = ContainerEngine(chosen.folder)
    engine.clear()  # of what a run before left
    findings = compose_findings()
    with tempfile.TemporaryDirectory(prefix="onlooker-compose-") as temporary, unpacked_root(Path(temporary)) as root:
        folder = Path(temporary)
        shell = GuideShell(root, engine.environment)
        run = ComposeRun(engine, shell)
        since = datetime.now(UTC) - timedelta(seconds=5)
        try:
            figures = start(run)
            unhealthy, open_ones, too_far = run.unhealthy(), run.not_contained(), run.reaching_too_far()
            figures |= {"worker_confined": run.is_confined(), "unhealthy": unhealthy, "not_contained": open_ones}
            figures |= {"reaching_too_far": too_far}
            figures |= play_film(run, choose_clip(chosen.clip, folder), folder)
            figures |= upgrade(run, since)
            for title in ("Certificates", "Backup", "Remove it"):
                for block in blocks_of(title):
                    shell.run(block)
        except Exception:
            run.say_logs()
            raise
        finally:
            engine.clear()
    ok = (
        figures["first_person"] == 1
        and figures["first_person_s"] <= FIRST_PERSON_TARGET_S
        and figures["worker_confined"]
        and not (unhealthy or open_ones or too_far or findings)
        and figures["film_passing_error"] <= COUNT_ERROR
        and figures["upgrade_ok"]
    )
    conclude({"ok": ok, "schema_findings": len(findings)} | figures | {"stand_ins": list(STAND_INS)})


if __name__ == "__main__":
    main()
