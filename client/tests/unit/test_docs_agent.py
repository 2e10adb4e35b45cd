"""The pages about the agent say what the code does: every command can be read, every figure is the code's own."""

import re
import shlex
from pathlib import Path

import pytest
from onlooker.streams.options import WARNED_FROM

from onlooker_client.agent import agent, process
from onlooker_client.agent.capture import motion, pace, timestamps
from onlooker_client.agent.options import AgentOptions
from onlooker_client.agent.sending import link, server_delivery
from onlooker_client.agent.status import health, reporter, state
from onlooker_client.agent.status.log import AGAIN_S
from onlooker_client.bulk.uploader import LAST_WORD_S
from onlooker_client.command.agent import build_parser as agent_parser
from onlooker_client.command.client import build_parser as client_parser
from onlooker_client.doctor import camera, clock, limits, picture, server
from onlooker_client.doctor.checks import CHECKS
from onlooker_client.preview.video import SPARE_BYTES
from onlooker_client.sources import condition, reconnection
from onlooker_client.wire.transport import TIMEOUT_S

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "client" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PARSERS = {"onlooker-agent": agent_parser, "onlooker-client": client_parser}
PLAN = AgentOptions("0")


def words_of(page: str) -> str:
    """A page as one line, so that a sentence may go over two."""
    return " ".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split())


def commands_of(page: Path) -> list[list[str]]:
    """The commands of ours in its shell blocks, as words."""
    found = []
    for block in re.findall(r"^```sh\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            ours = re.search(r"(?:^|[\s/])(onlooker-(?:agent|client) .*)", line.split(" | ")[-1].split(" < ")[0])
            if ours:
                found.append(shlex.split(ours[1]))
    return found


COMMANDS = [(page, command) for page in PAGES for command in commands_of(page)]


@pytest.mark.parametrize(
    ("page", "command"), COMMANDS, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else value.stem
)
def test_a_command_on_a_page_can_be_read_by_the_program(page: Path, command: list[str]) -> None:
    PARSERS[command[0]]().parse_args(command[1:])


def test_the_guides_show_every_command() -> None:
    shown = {(command[0], command[1]) for _, command in COMMANDS}
    assert {("onlooker-agent", name) for name in ("setup", "doctor", "run", "analyse")} <= shown
    assert ("onlooker-client", "migrate-config") in shown


SENTENCES = {
    "guides/agent": [
        f"nothing has moved for {pace.CALM_S:g} seconds | {PLAN.idle_fps:g} frame a second; "
        f"at the first motion {PLAN.fps:g} again",
        f"a grey JPEG of quality {PLAN.quality} that fits into {PLAN.width_px} x {PLAN.height_px}",
        f"more than {PLAN.max_kbytes:g} KB a second would be sent",
        f"waits up to {server_delivery.IN_FLIGHT_LIMIT_S:g} seconds for frames in flight",
        f"(and again every {AGAIN_S / 60:g} minutes)",
        f"after {link.SILENT_S:g} seconds, or twice as long as answers took",
        f"reads its file again every {agent.LOOK_AGAIN_S:g} seconds",
        f"pauses of half a second up to {reconnection.LONGEST_PAUSE_S:g} seconds",
        f"no picture for {condition.NO_FRAME_S:g} seconds, a black picture for {condition.BLACK_S:g}, "
        f"the same picture for {condition.FROZEN_S:g}",
        f"at most every {process.AT_MOST_EVERY_S / 60:g} minutes",
        f"By up to {timestamps.JUMP_S:g} seconds the agent follows it slowly",
        f"every {reporter.HEALTH_EVERY_S:g} seconds and at every change",
        f"the first {state.STARTING_S:g} seconds, until the first answer",
        f"no answer for {state.OFFLINE_S:g} seconds",
        "200 while the state is "
        + ", ".join(f"`{state}`" for state in health.HEALTHY[:-1])
        + f" or `{health.HEALTHY[-1]}`",
        f"less than {SPARE_BYTES // 2**20} MB are left on the disk",
    ],
    "concepts/agent": [
        f"2 at first, 1 to {link.MOST} later",
        f"and more than {link.SLOW_S:g} seconds, one fewer",
        "waits 0, then "
        + ", ".join(f"{one:g}" for one in link.PAUSES_S[1:-1])
        + f" and at last {link.PAUSES_S[-1]:g} seconds",
        f"nothing came back for {link.SILENT_S:g} seconds (or twice the time answers took lately, "
        f"at most {link.SILENT_AT_MOST_S:g})",
        f"every {link.ATTEMPT_EVERY_S:g} seconds, up to {link.MOST_IN_FLIGHT}.",
        f"no answer after {link.DEADLINE_S:g} seconds is given up",
        f"at most {pace.TRUSTED_S:g} seconds old, had no entities and no bodies; "
        f"and nothing has moved for {pace.CALM_S:g} seconds",
        f"about {motion.COLUMNS} points a row",
        f"more than {motion.LEAST:g} grey levels",
        f"{motion.POINTS} such points make a motion",
        f"at most {timestamps.SLEW:.0%} faster or slower".replace("%", " %"),
        f"more than {timestamps.JUMP_S:g} seconds the clock was plainly wrong",
        "stuck for a minute" if process.STUCK_S == 60 else "",
    ],
    "guides/doctor": [
        f"less than {camera.SLOW_RATE:g} pictures a second | less than {camera.TOO_SLOW_RATE:g} |",
        f"below {picture.DARK:g}; above {picture.BRIGHT:g}",
        f"more than {picture.CLIPPED_SHARE * 100:g} % of the picture is pure white "
        f"and the rest is darker than {picture.REST_DARK:g}",
        f"below {picture.VERY_DARK:g}; above {picture.VERY_BRIGHT:g}; black",
        f"more than {limits.SOFT_PX:g}; or nothing with an edge is in view | more than {limits.BLURRED_PX:g}.",
        f"in grey levels | more than {limits.NOISY:g} | more than {limits.VERY_NOISY:g} |",
        f"A face should be at least {limits.SMALLEST_FACE_PX} pixels high",
        f"{limits.USUAL_VIEW_DEGREES:g} degrees, as of a usual webcam",
        f"takes a face to be {limits.FACE_HEIGHT_M:g} metres high",
        f"up to {limits.farthest_m(640, limits.USUAL_VIEW_DEGREES):.1f} m away",
        f"two degrees of smoothing, {picture.SLIGHT_PX:g} and {picture.STRONG_PX:g} pixels",
        f"from {WARNED_FROM * 100:g} % of the month on",
        f"more than {clock.OFF_S:g} seconds off | more than {clock.FAR_OFF_S:g} |",
        f"a round trip of more than {server.SLOW_S:g} seconds",
        f"more than {server.VERY_SLOW_S:g} seconds; room for fewer than {server.LEAST_RATE:g} frames a second",
        f"an answer takes more than {server.SLOW_ANSWER_S:g} second |",
        f"up to {server.FRAMES} real frames",
        *(f"{size // 1000} KB" for size in server.UPLOADED_BYTES),
        *(f"| {check.title}" for check in CHECKS),
    ],
    "guides/analyse": [f"finished within {LAST_WORD_S:g} seconds"],
    "guides/sdk": [f"within `timeout_s`, {TIMEOUT_S:g} seconds by default"],
}


@pytest.mark.parametrize(("page", "sentence"), [(page, one) for page, all_ in SENTENCES.items() for one in all_])
def test_a_page_about_the_agent_says_what_the_code_does(page: str, sentence: str) -> None:
    assert sentence in words_of(page)
