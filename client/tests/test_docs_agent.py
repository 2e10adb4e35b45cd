"""The pages about the agent say what the code does: every command can be read, every figure is the code's own."""

import re
import shlex
from pathlib import Path

import pytest
from onlooker.streams.kinds import WARNED_FROM

from onlooker_client.agent import motion, pace, replacing, running, stamping
from onlooker_client.agent.plan import Plan
from onlooker_client.agent.sending import link, window
from onlooker_client.agent.telling import health, reporting, situation
from onlooker_client.agent.telling.journal import AGAIN_S
from onlooker_client.bulk.sending import LAST_WORD_S
from onlooker_client.command.agent import build_parser as agent_parser
from onlooker_client.command.client import build_parser as client_parser
from onlooker_client.doctor import analysis, camera, clock, focus, light, network
from onlooker_client.doctor.checks import CHECKS
from onlooker_client.preview.film import SPARE_BYTES
from onlooker_client.sources import condition, lasting
from onlooker_client.wire.transport import TIMEOUT_S

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "client" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PARSERS = {"onlooker-agent": agent_parser, "onlooker-client": client_parser}
PLAN = Plan("0")


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
        f"waits up to {running.IN_FLIGHT_LIMIT_S:g} seconds for what is under way",
        f"(and again every {AGAIN_S / 60:g} minutes)",
        f"after {link.SILENT_S:g} seconds, or twice as long as answers took",
        f"reads its file again every {running.LOOK_AGAIN_S:g} seconds",
        f"pauses of half a second up to {lasting.LONGEST_PAUSE_S:g} seconds",
        f"no picture for {condition.NO_FRAME_S:g} seconds, a black picture for {condition.BLACK_S:g}, "
        f"the same picture for {condition.FROZEN_S:g}",
        f"at most every {replacing.AT_MOST_EVERY_S / 60:g} minutes",
        f"By up to {stamping.JUMP_S:g} seconds the agent follows it slowly",
        f"every {reporting.HEALTH_EVERY_S:g} seconds and at every change",
        f"the first {situation.STARTING_S:g} seconds, until the first answer",
        f"no answer for {situation.OFFLINE_S:g} seconds",
        "200 while the state is "
        + ", ".join(f"`{state}`" for state in health.HEALTHY[:-1])
        + f" or `{health.HEALTHY[-1]}`",
        f"less than {SPARE_BYTES // 2**20} MB are left on the disk",
    ],
    "concepts/agent": [
        f"2 at first, 1 to {window.MOST} later",
        f"and more than {window.SLOW_S:g} seconds, one fewer",
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
        f"at most {stamping.SLEW:.0%} faster or slower".replace("%", " %"),
        f"more than {stamping.JUMP_S:g} seconds the clock was plainly wrong",
        "stuck for a minute" if replacing.STUCK_S == 60 else "",
    ],
    "guides/doctor": [
        f"less than {camera.SLOW_RATE:g} pictures a second | less than {camera.TOO_SLOW_RATE:g} |",
        f"below {light.DARK:g}; above {light.BRIGHT:g}",
        f"more than {light.CLIPPED_SHARE * 100:g} % of the picture is plain white "
        f"and the rest is darker than {light.REST_DARK:g}",
        f"below {light.VERY_DARK:g}; above {light.VERY_BRIGHT:g}; black",
        f"more than {focus.SOFT_PX:g}; or nothing with an edge is in view | more than {focus.BLURRED_PX:g}.",
        f"two degrees of smoothing, {focus.SLIGHT_PX:g} and {focus.STRONG_PX:g} pixels",
        f"from {WARNED_FROM * 100:g} % of the month on",
        f"more than {clock.OFF_S:g} seconds off | more than {clock.FAR_OFF_S:g} |",
        f"a round trip of more than {network.SLOW_S:g} seconds",
        f"more than {network.VERY_SLOW_S:g} seconds; room for fewer than {network.LEAST_RATE:g} frames a second",
        f"an answer takes more than {analysis.SLOW_S:g} second |",
        f"up to {analysis.FRAMES} real frames",
        *(f"{size // 1000} KB" for size in network.UPLOADED_BYTES),
        *(f"| {check.title}" for check in CHECKS),
    ],
    "guides/analyse": [f"finished within {LAST_WORD_S:g} seconds"],
    "guides/sdk": [f"within `timeout_s`, {TIMEOUT_S:g} seconds unless you say otherwise"],
}


@pytest.mark.parametrize(("page", "sentence"), [(page, one) for page, all_ in SENTENCES.items() for one in all_])
def test_a_page_about_the_agent_says_what_the_code_does(page: str, sentence: str) -> None:
    assert sentence in words_of(page)
