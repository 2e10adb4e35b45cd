"""A device as a process: planned people by the machine's clocks, recorded and uploaded until it is killed."""

import argparse
import json
import resource
import signal
import time
from pathlib import Path

from onlooker_client.device.device_clock import DeviceClock
from onlooker_client.device.device_recorder import DeviceRecorder, RecorderOptions
from onlooker_client.device.journal import Journal
from onlooker_client.wire.transport import Transport, basic_authorization
from testkit.device_simulation import PlannedPerson, SimulatedSession

FRAME_S = 0.1
UPLOAD_EVERY_S = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plan", type=Path, help="people, the folder of the journal, the server")
    parser.add_argument("seen", type=Path, help="a file to which each frame is added: when, and who was in it")
    parser.add_argument("--until", type=float, required=True, help="Unix time")
    parser.add_argument("--full-until", type=float, default=0.0, help="Unix time; until then the disk has no room")
    arguments = parser.parse_args()
    plan = json.loads(arguments.plan.read_text())
    people = [PlannedPerson(*row) for row in plan["people"]]
    transport = Transport(plan["url"], authorization=basic_authorization(*plan["auth"]), ca_file=plan["ca_file"])
    if arguments.full_until:
        _fill_disk(plan["full_bytes"])
    journal = Journal(Path(plan["folder"]), warn=lambda event, text: print(event, text, flush=True))
    clock = DeviceClock()
    options = RecorderOptions(upload_every_s=UPLOAD_EVERY_S, warn=lambda event, text: print(event, text, flush=True))
    recorder = DeviceRecorder(journal, transport, clock, options)
    session = SimulatedSession.resumed(people, recorder.session_state())
    recorder.start()
    is_told = [False]
    signal.signal(signal.SIGTERM, lambda *_: is_told.__setitem__(0, True))
    with arguments.seen.open("a", buffering=1) as seen:
        beat = 0
        while time.time() < arguments.until and not is_told[0]:
            if arguments.full_until and time.time() > arguments.full_until:
                arguments.full_until = 0.0
                resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            now = time.monotonic()
            at_s = clock.stamp(now)
            frame = session.frame(round(at_s * 1000), round(at_s * 1000), video_s=FRAME_S)
            recorder.add(frame)
            seen.write(json.dumps([at_s, sorted(frame.result["entities"])]) + "\n")
            beat += 1
            if beat % 10 == 0:
                recorder.tick(now)
            time.sleep(max(0.0, FRAME_S - (time.monotonic() - now)))
    recorder.close(timeout_s=20)


def _fill_disk(room_bytes: int) -> None:
    """No file may get larger than it may be now: what a full disk says, to this process alone."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room_bytes, resource.RLIM_INFINITY))


if __name__ == "__main__":
    main()
