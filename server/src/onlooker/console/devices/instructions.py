"""What to do with a code: the line to type on a device, and the text of a file for cards that are written alike."""

from typing import Any

from django.conf import settings

from onlooker.console.agent.wheels import COMPUTING, SENDING, find_parts
from onlooker.console.streams.connection import authority_name, install_line, read_authority
from onlooker.devices.enrolment_codes import NewCode
from onlooker.streams.models import ComputePlace

BOOT_FILE = "onlooker-enrol.txt"


def describe_code(made: NewCode) -> dict[str, Any]:
    """What the page shows."""
    installation, script = (COMPUTING, "agent-device-script") if _computes(made) else (SENDING, "agent-script")
    has_authority = bool(settings.ONLOOKER.authority_file)
    return {
        "code": made.code,
        "text": made.text,
        "enrol_line": f"onlooker-agent enrol {made.text}",
        "server_line": f"onlooker-agent enrol {made.text} --server {settings.ONLOOKER.console_url}"
        + (f" --ca {authority_name()}" if has_authority else ""),
        "install_line": install_line(script) if find_parts(settings.ONLOOKER, installation) else "",
        "has_authority": has_authority,
        "boot_file": BOOT_FILE,
        "boot_text": write_boot_file(made.text),
    }


def write_boot_file(code: str) -> str:
    """Read by `onlooker-agent enrol --file`; it contains all that a device must know."""
    lines = [
        "# Onlooker: this device enrols itself when it first starts. Then the code is removed from this file.",
        f"server = {settings.ONLOOKER.console_url}",
        f"code = {code}",
    ]
    return "\n".join([*lines, read_authority().decode("ascii").strip()]).strip() + "\n"


def _computes(made: NewCode) -> bool:
    stream, template = made.code.stream, made.code.template
    chosen = stream.compute if stream else template.settings.get("compute") if template else None
    return chosen == ComputePlace.DEVICE
