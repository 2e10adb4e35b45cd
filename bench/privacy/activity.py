"""The whole product at work: all services, the agent, the console and the data endpoint."""

import argparse
import json
import re
import runpy
import ssl
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from bench.lib.product import ROOT, say
from bench.privacy.namespace import Recorder, lead_out
from onlooker_client import Client
from onlooker_pipeline.catalogue import SERVICES
from testkit import Stack, TestStream, fresh_database, running_stack

EMAIL, PASSWORD = "manager@example.org", "correct horse battery staple"
METRICS = ("passing_by", "interested", "stop_time", "attention_time", "gender", "satisfaction")
TELL_EVERY_S = 10
_PICTURE = ROOT / "docs" / "pictures" / "portrait.jpg"
_SECRET = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


class Activity:
    """Keeps every part busy, and counts what each of them did."""

    def __init__(self, stack: Stack, folder: Path) -> None:
        self._stack = stack
        self._folder = folder
        self._stream = self._create_stream()
        self.done: Counter[str] = Counter()

    def _create_stream(self) -> TestStream:
        """Made with the program, as an operator does it."""
        self._onlooker("account", "create", EMAIL, given=PASSWORD)
        made = self._onlooker("stream", "create", "Kiosk", "--owner", EMAIL, "--env")
        values = dict(re.findall(r"^(?:export )?(\w+)=['\"]?([^'\"\s]+)", made, re.MULTILINE))
        return TestStream(0, values["CLIENT_ID"], values["ACCESS_TOKEN"])

    def _onlooker(self, *arguments: str, given: str = "") -> str:
        command = [sys.executable, "-m", "onlooker", *arguments]
        ended = subprocess.run(
            command, env=self._stack.environment, input=given, capture_output=True, text=True, timeout=60, check=False
        )
        if ended.returncode:
            raise RuntimeError(f"onlooker {' '.join(arguments)}: {ended.stderr}")
        return ended.stdout

    def run(self, seconds: float, *, until: Callable[[], bool] = lambda: False) -> None:
        """For so long, or until it has been seen."""
        film = self._folder / "passing.mp4"
        subprocess.run([sys.executable, str(ROOT / "docs" / "make_passing.py"), str(film)], check=True, timeout=120)
        told_at = time.monotonic()
        ends_at = told_at + seconds
        with ExitStack() as things:
            client = things.enter_context(self._client())
            web = things.enter_context(_browse(self._stack.console_url, self._stack.ca_file))
            agent = self._start_agent(film)
            things.callback(agent.wait, 20)
            things.callback(agent.terminate)
            self._sign_in(web)
            while time.monotonic() < ends_at and not until():
                self._ask_services(client)
                self._read_numbers(client)
                self._open_pages(web)
                if time.monotonic() >= told_at:
                    told_at += TELL_EVERY_S
                    say(f"  {max(0, ends_at - time.monotonic()):.0f} s left, {sum(self.done.values())} things done")
            self.done["agent_alive"] = int(agent.poll() is None)

    def _client(self) -> Client:
        return Client(
            self._stack.url,
            *self._stream.auth,
            ca_file=self._stack.ca_file,
            username=EMAIL,
            console_url=self._stack.console_url,
            data_url=self._stack.data_url,
        )

    def _start_agent(self, film: Path) -> "subprocess.Popen[bytes]":
        credentials = {
            "ONLOOKER_URL": self._stack.url,
            "ONLOOKER_CA_FILE": self._stack.ca_file,
            "ONLOOKER_CLIENT_ID": self._stream.client_id,
            "ONLOOKER_ACCESS_TOKEN": self._stream.access_token,
        }
        kept = {name: self._stack.environment[name] for name in ("PATH", "HOME")}
        with (self._folder / "agent.log").open("wb") as log:
            return subprocess.Popen(
                [str(Path(sys.executable).parent / "onlooker-agent"), "run", str(film), "--loop"],
                env=kept | credentials,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _ask_services(self, client: Client) -> None:
        make_sound = runpy.run_path(str(ROOT / "docs" / "make_sound.py"))["make_sound"]
        for service in SERVICES:
            given: dict[str, Any] = {}
            if service.name == "sound_localization":
                given = {"sound": make_sound(yaw_degrees=30.0, baseline_m=0.2), "baseline": 0.2, "sensitivity": 0.5}
            elif service.takes_media:
                given = {"image": _PICTURE.read_bytes()}
            with client.service(service.name, service.version).session() as session:
                session.process(**given)
            self.done[service.name] += 1

    def _read_numbers(self, client: Client) -> None:
        since = datetime.now(UTC) - timedelta(hours=1)
        self.done["passing_by"] = max(bucket["passing_by"] for bucket in client.metrics(METRICS, since, time="global"))
        self.done["numbers"] += 1

    def _sign_in(self, web: httpx2.Client) -> None:
        found = _SECRET.search(web.get("/accounts/login/").text)
        assert found, "the sign-in page has no form"
        form = {"login": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": found[1]}
        answer = web.post("/accounts/login/", data=form, headers={"Origin": self._stack.console_url})
        assert answer.status_code == 302, (answer.status_code, answer.text[:400])

    def _open_pages(self, web: httpx2.Client) -> None:
        stream = f"/streams/{self._stream.client_id}/"
        for path in (
            "/streams/",
            stream,
            f"{stream}dashboard/",
            f"{stream}dashboard/table.csv",
            f"{stream}dashboard/table.parquet",
            f"{stream}dashboard/changes.csv",
            f"{stream}dashboard/report.pdf",
        ):
            answer = web.get(path, follow_redirects=True)
            assert answer.status_code == 200, (path, answer.status_code)
            self.done["pages"] += 1


def _browse(url: str, ca_file: str) -> httpx2.Client:
    return httpx2.Client(base_url=url, verify=ssl.create_default_context(cafile=ca_file), timeout=30, trust_env=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database_server")
    parser.add_argument("folder", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--stop-when-heard", action="store_true")
    chosen = parser.parse_args()
    own = chosen.folder / "bench"
    own.mkdir()
    lead_out(own)
    with Recorder() as recorder, fresh_database(chosen.database_server) as database:
        say(f"the product starts in a namespace whose other end is recorded; it computes for {chosen.seconds:g} s")
        with running_stack(database) as stack:
            activity = Activity(stack, own)
            activity.run(chosen.seconds, until=lambda: chosen.stop_when_heard and bool(recorder.packets))
    print(
        json.dumps(
            {
                "done": activity.done,
                "packets": recorder.packets,
                "first_after_s": recorder.first_after_s,
                "temporary": tempfile.gettempdir(),
            }
        )
    )


if __name__ == "__main__":
    main()
