"""From the page that shows the credentials to an agent that is set up and well."""

import shlex
import stat

from bench.console.cast import OWNER
from bench.dashboard.figures import Figure
from bench.journey.trip import Trip

CONFIG = ".config/onlooker/client.json"
_DOWNLOAD = """
const done = arguments[0];
const link = document.querySelector("#connect ~ ol a[download]");
fetch(link.href).then((answer) => answer.text()).then(done, (fault) => done(`${fault}`));
"""


def copy_lines(trip: Trip) -> None:
    """The panel's own lines, and the authority that it offers."""
    person = trip.person
    person.see("Waiting for the first frame")
    trip.scene.known["setup line"] = person.text("#setup-line")
    trip.run_line = shlex.split(person.text("#run-line"))
    pem = person.browser.execute_async_script(_DOWNLOAD)
    trip.check(pem == trip.front.ca_file.read_text(), "the console offers another authority than the proxy's")
    trip.authority.write_text(pem)


def set_up(trip: Trip) -> None:
    """The line from the page, in a terminal: the Password and the camera are asked for, and tried."""
    line = [*shlex.split(trip.scene.known["setup line"]), "--username", OWNER]
    answers = [("Password", trip.password), ("Which one", str(trip.filmed.path))]
    done = trip.device.converse("setup", line, answers)
    assert done.code == 0, f"setup ended with {done.code}:\n{done.out}{done.err}"
    config = trip.device.home / CONFIG
    trip.check(stat.S_IMODE(config.stat().st_mode) == 0o600, "others can read the config")
    trip.figures.append(Figure("setup_s", round(done.seconds, 1)))


def examine(trip: Trip) -> None:
    """Nothing is to be fixed: without billing the stream is an enterprise stream, which has no quota."""
    done = trip.device.do("doctor", ["onlooker-agent", "doctor"])
    assert done.code == 0, f"doctor ended with {done.code}:\n{done.out}{done.err}"
    trip.figures.append(Figure("doctor_s", round(done.seconds, 1)))
