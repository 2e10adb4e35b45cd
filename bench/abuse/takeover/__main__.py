"""Takes over each process of the product in turn, tries to reach what it should not, and writes down what it can."""

import argparse
import json
import os
import secrets
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from bench.abuse.takeover.expectation import EXPECTED, PAGE, PROCESSES, SECTION, SINCE_LANDLOCK, draw_table
from bench.abuse.takeover.ordinary_user import OrdinaryUser, code_path, find_user
from bench.abuse.takeover.reaches import Neighbourhood
from bench.lib.product import conclude, concluding, say
from onlooker.database_roles.grants import ROLES
from onlooker_pipeline.landlock import landlock_version
from testkit import Cluster, Launch, Stack, own_cluster, running_stack

OWNER = "onlooker"
"""The user that the installation is given: it owns its database and may create roles."""
ANSWER_LIMIT_S = 120.0


@contextmanager
def strict_database() -> Iterator[str]:
    """A database on a server of its own that asks everyone for a password, as Debian's does over TCP."""
    password = secrets.token_urlsafe(16)
    with own_cluster() as cluster:
        with psycopg.connect(cluster.url, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE {OWNER} LOGIN CREATEROLE PASSWORD '{password}'")
            connection.execute(f"CREATE DATABASE {OWNER} OWNER {OWNER}")
        _require_passwords(cluster)
        yield f"postgresql://{OWNER}:{password}@127.0.0.1:{cluster.port}/{OWNER}"


def _require_passwords(cluster: Cluster) -> None:
    rules = cluster.data / "pg_hba.conf"
    rules.write_text("host all all 127.0.0.1/32 scram-sha-256\n")
    cluster.control("reload")


@dataclass
class Footholds:
    """The processes that were taken over, each at the end of a connection."""

    listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    links: dict[str, socket.socket] = field(default_factory=dict)

    @property
    def port(self) -> int:
        return int(self.listening.getsockname()[1])

    def await_all(self) -> None:
        self.listening.settimeout(ANSWER_LIMIT_S)
        while not set(PROCESSES) <= self.links.keys():
            link, _ = self.listening.accept()
            with link.makefile("r") as lines:
                self.links[lines.readline().strip()] = link

    def try_from(self, process: str, around: Neighbourhood) -> dict[str, str]:
        link = self.links[process]
        link.settimeout(ANSWER_LIMIT_S)
        with link.makefile("rw") as lines:
            lines.write(json.dumps(asdict(around)) + "\n")
            lines.flush()
            got: dict[str, str] = json.loads(lines.readline())
        return got


def _neighbourhood(stack: Stack, process: str, outside_port: int) -> Neighbourhood:
    database = urlsplit(stack.setting("database_url"))
    own = (process, f"{process}-computing")
    others = {name: pid for name, pid in stack.children().items() if name not in own} | {"up": stack.process.pid}
    roles = [OWNER, "postgres", *(f"{OWNER}_{role}" for role in ROLES if role != process)]
    return Neighbourhood(
        home=str(stack.home),
        others=others,
        roles=roles,
        database=f"postgresql://127.0.0.1:{database.port}{database.path}",
        bus_port=urlsplit(stack.setting("nats_url")).port or 0,
        outside_port=outside_port,
    )


def _take_over_all(user: OrdinaryUser, confinement: str, opened: ExitStack) -> dict[str, dict[str, str]]:
    """What was got, by process and reach."""
    footholds = Footholds()
    outside = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
    code = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="onlooker-takeover-")))
    code.chmod(0o755)
    line = f"from bench.abuse.takeover.foothold import take_over\n\ntake_over({footholds.port})\n"
    (code / "sitecustomize.py").write_text(line)
    os.environ["PYTHONPATH"] = code_path(code)
    url = opened.enter_context(strict_database())
    program = Path(sys.executable).parent / "nats-server"
    launch = Launch((user.python, "-m", "onlooker", "up"), user.id)
    settings = {"nats_server": program, "worker_services": "dummy", "confinement": confinement}
    stack = opened.enter_context(running_stack(url, launch, **settings))
    diary = stack.home.parent / "diary"
    diary.write_text("A file of the user that is none of ours.")
    diary.chmod(0o644)
    stack.create_stream()
    footholds.await_all()
    got = {}
    for process in PROCESSES:
        got[process] = footholds.try_from(process, _neighbourhood(stack, process, outside.getsockname()[1]))
        say(f"  {process}: {[reach for reach, what in got[process].items() if what]}")
    return got


def _unexpected(got: dict[str, dict[str, str]], reached: dict[str, set[str]]) -> dict[str, dict[str, str]]:
    """Reaches that the declared expectation forbids, and by process what was got."""
    beyond = {reach: processes - EXPECTED.get(reach, set()) for reach, processes in reached.items()}
    return {
        reach: {process: got[process][reach] for process in sorted(processes)}
        for reach, processes in beyond.items()
        if processes and landlock_version() >= SINCE_LANDLOCK.get(reach, 0)
    }


@concluding
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the table into SECURITY.md")
    parser.add_argument("--confinement", choices=("on", "off"), default="on", help="off: to see what succeeds")
    arguments = parser.parse_args()
    user, began = find_user(), time.monotonic()
    with ExitStack() as opened:
        got = _take_over_all(user, arguments.confinement, opened)
    reached = {reach: {process for process in PROCESSES if got[process][reach]} for reach in got[PROCESSES[0]]}
    unexpected = _unexpected(got, reached)
    missing = {reach: sorted(needed - reached.get(reach, set())) for reach, needed in EXPECTED.items()}
    missing = {reach: processes for reach, processes in missing.items() if processes}
    table = draw_table({reach: reached[reach] - set(unexpected.get(reach, ())) for reach in reached})
    if landlock_version() < max(SINCE_LANDLOCK.values()):
        table = draw_table(EXPECTED)
    if arguments.write and not unexpected:
        PAGE.write(SECTION, table)
    in_sync = PAGE.holds(SECTION, table)
    figures = {
        "confinement": arguments.confinement,
        "processes": len(got),
        "reaches": len(reached),
        "reached": sum(map(len, reached.values())),
        "forbidden_and_reached": unexpected,
        "forbidden_and_reached_target": {},
        "needed_and_not_reached": missing,
        "needed_and_not_reached_target": {},
        "table_in_sync": in_sync,
        "as_root": os.getuid() == 0 and user.id is None,
        "landlock_version": landlock_version(),
        "seconds": round(time.monotonic() - began, 1),
    }
    conclude({"ok": in_sync and not unexpected and not missing} | figures)


if __name__ == "__main__":
    main()
