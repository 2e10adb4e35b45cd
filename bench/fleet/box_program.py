"""Some boxes in one process: orders come as lines of JSON, and each is answered by one."""

import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.fleet.box import Box, FleetPlace
from bench.fleet.made_results import FRAME_EVERY_S, MadeComputation
from onlooker_client.device import local_delivery


class BoxProgram:
    """All orders name boxes; one that enrols is new."""

    def __init__(self, place: FleetPlace) -> None:
        self._place = place
        self._boxes: dict[str, Box] = {}

    def obey(self, order: str, names: list[str], **given: str) -> dict[str, Any]:
        return {name: getattr(self, f"_{order}")(name, **given) for name in names}

    def start(self, names: list[str]) -> dict[str, Any]:
        """Spread over the time between two frames, as boxes that were switched on by people."""
        for name in names:
            self._boxes[name].start()
            time.sleep(FRAME_EVERY_S / len(names))
        return {}

    def stop(self, names: list[str]) -> dict[str, Any]:
        """All at once: each may wait for the server."""
        with ThreadPoolExecutor(max(1, len(names))) as threads:
            return dict(zip(names, threads.map(lambda name: self._boxes[name].stop(), names), strict=True))

    def _enrol(self, name: str, code: str) -> dict[str, str]:
        box = self._boxes[name] = Box(name, self._place)
        refused = box.enrol(code)
        return {"client_id": box.client_id, "refused": refused}

    def _report(self, name: str) -> dict[str, Any]:
        return self._boxes[name].report()

    def _quieten(self, name: str) -> bool:
        self._boxes[name].made.is_quiet = True
        return True

    def _tell(self, name: str) -> dict[str, Any]:
        return self._boxes[name].tell_made()


def main() -> None:
    said = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what the agent's commands say is no answer
    # The one part of the agent that is not its own: 500 processes with nets would not fit.
    local_delivery.Computation = MadeComputation  # type: ignore[attr-defined, assignment]
    program = BoxProgram(FleetPlace(Path(said["folder"]), said["console_url"], said["ca_file"], said["trial_s"]))
    for line in sys.stdin:
        order = json.loads(line)
        done = {"start": program.start, "stop": program.stop}.get(order["order"])
        names = order["boxes"]
        answer = done(names) if done else program.obey(order["order"], names, **order.get("given", {}))
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
