"""The agent's install lines, as the console's page shows them, from an empty Debian to a device that counts people."""

import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.journeys.console import steps
from bench.journeys.console.person import OWNER, JourneySetup, Person
from bench.journeys.figures import JourneyFigure, as_members, why_missed
from bench.journeys.product.device import converse
from bench.journeys.product.films import RECORDED, Film, choose_clip
from bench.journeys.product.numbers import ask_numbers
from bench.lib.browser import open_browser, shoot
from bench.lib.debian_root import DebianRoot, unpacked_root
from bench.lib.product import ROOT, conclude, concluding, running_product, say
from onlooker.console.agent.views import SCRIPT
from onlooker_client import Client
from testkit import Stack
from testkit.mailbox import running_mail_server

KEPT = ROOT / "var" / "agent-install"
VIEWS = tuple((f"{px}-{scheme}", px, scheme) for px in (1440, 768, 390) for scheme in ("light", "dark"))
LINES_TARGET = 60
INSTALL_TARGET_S = 120.0
INSTALL_LIMIT_S = 600.0
"""Besides downloads."""
COUNT_LIMIT_S = 75.0
VISITOR = "visitor"
GUIDE = ROOT / "docs" / "guides" / "edge.md"
UNIT = "/etc/systemd/system/onlooker-agent.service"
DEPENDENCIES = "/srv/dependencies"
NO_INDEX = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_FIND_LINKS": "", "PIP_RETRIES": "0"}


@dataclass(frozen=True)
class ShownLines:
    """What somebody copies from the stream's page."""

    install: str
    setup: str
    run: str
    login: str
    password: str


@contextmanager
def product_with_page(
    pictures: Path, *, compute: str = "server", **settings: object
) -> Iterator[tuple[Stack, ShownLines]]:
    """The product, and the lines that Chromium shows to somebody who has created a stream that is computed there."""
    with ExitStack() as opened:
        mailbox = opened.enter_context(running_mail_server())
        stack = opened.enter_context(running_product(email_url=f"smtp://127.0.0.1:{mailbox.port}?tls=no", **settings))
        with open_browser(authority=Path(stack.ca_file)) as browser:
            person, scene = Quiet(browser, stack.console_url, pictures), JourneySetup(stack, mailbox, pictures)
            steps.sign_up(scene, person, OWNER)
            steps.create_stream(scene, person)
            stack.execute("UPDATE streams_stream SET compute = %s RETURNING id", compute)
            person.open(f"/streams/{scene.known['login']}/")
            shoot(browser, pictures, "set-up", views=VIEWS)
            lines = ShownLines(
                install=person.text("#install-line"),
                setup=person.text("#setup-line"),
                run=person.text("#run-line"),
                login=scene.known["login"],
                password=scene.known["first password"],
            )
        yield stack, lines


class Quiet(Person):
    """Only the page with the line is photographed here."""

    def look(self, name: str) -> None:
        self.pages.append(name)


def install(root: DebianRoot, line: str, name: str, *, user: str = "root", **variables: str) -> float:
    """Seconds that the line takes; AssertionError with what it said if it fails."""
    began = time.monotonic()
    done = root.run("sh", "-c", line, user=user, limit_s=INSTALL_LIMIT_S, **variables)
    seconds = time.monotonic() - began
    (KEPT / f"{name}.txt").write_text(f"$ {line}\n{done.stdout}", encoding="utf-8")
    assert done.returncode == 0, f"the line ended with {done.returncode}:\n{done.stdout[-3000:]}"
    assert "Installed" in done.stdout, f"the line did not end:\n{done.stdout[-3000:]}"
    say(f"{name}: {seconds:.1f} s")
    return seconds


def refuse_without_python(root: DebianRoot, line: str) -> bool:
    """Whether the script names the package that is missing."""
    done = root.run("sh", "-c", line)
    (KEPT / "without-python.txt").write_text(f"$ {line}\n{done.stdout}", encoding="utf-8")
    return done.returncode != 0 and "apt install python3-venv" in done.stdout


def has_service(root: DebianRoot) -> bool:
    """The unit is there, Debian's systemd reads it without a complaint, and can enable it."""
    checks = (["systemd-analyze", "verify", UNIT], ["systemctl", "enable", "onlooker-agent"])
    done = [root.run(*check, SYSTEMD_OFFLINE="1") for check in checks]
    (KEPT / "service.txt").write_text("".join(one.stdout for one in done), encoding="utf-8")
    started_with = re.search(r"^ExecStart=(\S+)", (root.path / UNIT[1:]).read_text(), re.MULTILINE)
    assert started_with
    return not any(one.returncode for one in done) and root.run(started_with[1], "--version").returncode == 0


def count_people(root: DebianRoot, stack: Stack, lines: ShownLines, film: Film, *, name: str = "") -> tuple[int, float]:
    """By the page's own lines, a film as the camera: people that the data endpoint counts, and seconds until then."""
    camera = root.path / "root" / f"camera{film.path.suffix}"
    camera.write_bytes(film.path.read_bytes())
    answers = [("Password", lines.password), ("Which one", f"/root/{camera.name}")]
    began, begins_at = time.monotonic(), datetime.now(UTC) - timedelta(seconds=1)
    command = root.command("sh", "-c", lines.setup)
    code, screen = converse(
        command, answers, folder=root.path, environment={"PATH": "/usr/sbin:/usr/bin:/bin"}, limit_s=120
    )
    (KEPT / f"{name}setup.txt").write_text(screen.replace(lines.password, "..."), encoding="utf-8")
    assert code == 0, f"setup ended with {code}:\n{screen}"
    done = root.run("sh", "-c", lines.run, limit_s=60 + 3 * film.duration_s)
    (KEPT / f"{name}run.txt").write_text(done.stdout, encoding="utf-8")
    assert done.returncode == 0, f"run ended with {done.returncode}:\n{done.stdout[-3000:]}"
    with Client(stack.url, lines.login, lines.password, ca_file=stack.ca_file, username=OWNER) as client:
        give_up_at = time.monotonic() + COUNT_LIMIT_S
        while not (counted := int(ask_numbers(client, begins_at).passing_by or 0)):
            if time.monotonic() > give_up_at:
                break
            time.sleep(0.5)
    return counted, time.monotonic() - began


def go_public(root: DebianRoot, folder: Path) -> list[JourneyFigure]:
    """As root, dependencies from a public index: the service, and people who are counted."""
    film = choose_clip(RECORDED, folder)
    with product_with_page(KEPT) as (stack, lines):
        (root.path / "run" / "systemd" / "system").mkdir(parents=True)  # as where systemd runs
        began = time.monotonic()
        root.add_packages("curl", "ca-certificates")
        is_refused = refuse_without_python(root, lines.install)
        root.add_packages("python3-venv")
        packages_s = time.monotonic() - began
        first_s = install(root, lines.install, "install-first", SYSTEMD_OFFLINE="1")
        root.run("rm", "-rf", "/opt/onlooker-agent")
        again_s = install(root, lines.install, "install-from-cache", SYSTEMD_OFFLINE="1")
        counted, counted_s = count_people(root, stack, lines, film)
        has_unit = has_service(root)
    return [
        JourneyFigure("missing_package_named", int(is_refused), at_least=1),
        JourneyFigure("debian_packages_s", round(packages_s, 1)),
        JourneyFigure("install_with_downloads_s", round(first_s, 1)),
        JourneyFigure("install_s", round(again_s, 1), at_most=INSTALL_TARGET_S),
        JourneyFigure("counted_s", round(counted_s, 1)),
        JourneyFigure("people_counted", counted, at_least=1),
        JourneyFigure("service", int(has_unit), at_least=1),
        JourneyFigure("seconds_besides_downloads", round(packages_s + again_s + counted_s, 1)),
    ]


def go_offline(root: DebianRoot) -> list[JourneyFigure]:
    """As an ordinary user whose pip reaches no public index: everything comes from the console."""
    pins = (ROOT / "requirements" / "client.txt").read_text()
    (root.path / "root" / "requirements.txt").write_text(pins)
    options = ["--quiet", "--require-hashes", "--only-binary", ":all:", "--dest", DEPENDENCIES]
    done = root.run("/opt/onlooker-agent/bin/pip", "download", *options, "-r", "/root/requirements.txt")
    assert done.returncode == 0, f"pip download failed:\n{done.stdout}"
    root.run("useradd", "--create-home", VISITOR)
    folder = root.path / DEPENDENCIES[1:]
    with product_with_page(KEPT / "offline", agent_packages=folder) as (_, lines):
        seconds = install(root, lines.install, "install-offline", user=VISITOR, **NO_INDEX)
    answered = root.run(f"/home/{VISITOR}/.local/bin/onlooker-agent", "--version", user=VISITOR)
    return [
        JourneyFigure("offline_install_s", round(seconds, 1), at_most=INSTALL_TARGET_S),
        JourneyFigure("offline_agent_starts", int(answered.returncode == 0), at_least=1),
    ]


def go_device(root: DebianRoot, folder: Path) -> list[JourneyFigure]:
    """By the guide, on a machine of its own: the device computes, and only visits travel."""
    film = choose_clip(RECORDED, folder)
    with product_with_page(KEPT / "device", compute="device") as (stack, lines):
        prepare, doctor = guide_line("apt install "), guide_line("onlooker-agent doctor")
        root.add_packages(*prepare.split()[2:])
        seconds = install(root, lines.install, "device-install", SYSTEMD_OFFLINE="1")
        counted, counted_s = count_people(root, stack, lines, film, name="device-")
        said = root.run("sh", "-c", doctor, limit_s=300).stdout
    (KEPT / "device-doctor.txt").write_text(said, encoding="utf-8")
    ran = (KEPT / "device-run.txt").read_text(encoding="utf-8")
    is_here = "No picture leaves this device" in ran and "not confined" not in ran
    return [
        JourneyFigure("device_install_with_downloads_s", round(seconds, 1)),
        JourneyFigure("device_counted_s", round(counted_s, 1)),
        JourneyFigure("device_people_counted", counted, at_least=1),
        JourneyFigure("device_computes_confined", int(is_here), at_least=1),
        JourneyFigure("device_doctor_names_its_speed", int("frames a second" in said), at_least=1),
    ]


def guide_line(beginning: str) -> str:
    """The line of the guide to such a device that begins so."""
    (line,) = [one for one in GUIDE.read_text(encoding="utf-8").splitlines() if one.startswith(beginning)]
    return line


@concluding
def main() -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    for part in ("offline", "device"):
        (KEPT / part).mkdir(exist_ok=True)
    lines = len(SCRIPT.read_text(encoding="utf-8").splitlines())
    figures = [JourneyFigure("script_lines", lines, at_most=LINES_TARGET)]
    with tempfile.TemporaryDirectory(prefix="agent-install-", dir=KEPT) as folder, unpacked_root(Path(folder)) as root:
        figures += go_public(root, Path(folder))
        figures += go_offline(root)
    with tempfile.TemporaryDirectory(prefix="agent-install-", dir=KEPT) as folder, unpacked_root(Path(folder)) as root:
        figures += go_device(root, Path(folder))
    missed = [figure for figure in figures if not figure.is_met]
    reason = {"reason": why_missed(missed)} if missed else {}
    conclude({"ok": not missed} | as_members(figures) | reason)


if __name__ == "__main__":
    main()
