"""Whether this machine is fast enough to compute by itself."""

from __future__ import annotations

from onlooker_client.agent.options import DEVICE_FPS
from onlooker_client.doctor.examination import Examination
from onlooker_client.doctor.findings import Finding, good, unchecked, warn
from onlooker_client.errors import ConfigError

NOTE = "Measured with copies of one photograph on a wall; in a real scene it is a little more or less."


def check_compute_speed(_: Examination) -> Finding:
    """Only where what computes is installed: a device that sends frames needs none of it."""
    from onlooker_client.device.computation import require_packages
    from onlooker_client.device.compute_options import ComputeOptions
    from onlooker_client.device.speed_test import measure_speed

    try:
        require_packages()
    except ConfigError:
        return unchecked("this device sends frames; onlooker-client[device] would compute here")
    speeds = measure_speed(ComputeOptions())
    rates = {speed.people: speed.frames_per_second for speed in speeds}
    words = {0: "nobody", 1: "one person", 5: "five people"}
    figure = ", ".join(f"{rate:.1f} with {words[people]}" for people, rate in rates.items())
    said = f"frames a second computed here: {figure}"
    if rates[5] >= DEVICE_FPS:
        return good(said, NOTE)
    if rates[1] >= DEVICE_FPS:
        return warn(said, f"With several people in view frames are dropped. {NOTE}")
    return warn(said, f"Run with fewer, such as --fps 2, or have the stream computed on the server. {NOTE}")
