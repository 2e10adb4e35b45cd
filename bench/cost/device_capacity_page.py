"""The part of docs/reference/sizing.md about devices that compute: themselves, and the server of many of them."""

from bench.cost.capacity_page import (
    FPS,
    OPEN_HOURS,
    RETENTION_DAYS,
    SYSTEM_GB,
    Load,
    ScenePart,
    format_row,
)
from bench.cost.device_capacity import BOARDS, CoreSpeed, DeviceCost, RequestCosts

DEVICE_COUNTS = (1, 10, 100, 1000, 100_000)
GATEWAY_MB = 70
"""Of each gateway after the first; one uses a core."""
MINUTE_S = 60


def device_load(part: ScenePart, requests: RequestCosts, cameras: int) -> Load:
    """What the server of so many devices takes while the place is open."""
    visits_a_second = cameras * part.visits_a_day / (OPEN_HOURS * 3600)
    cores = requests.idle_cores + cameras * (requests.batch_s + requests.report_s) / MINUTE_S
    cores += visits_a_second * requests.visit_s
    bytes_a_second = cameras * 2 * requests.request_bytes / MINUTE_S + visits_a_second * requests.visit_bytes
    return Load(
        part.name,
        cameras,
        cores=cores,
        memory_gb=(part.idle_mb + GATEWAY_MB * int(cores)) / 1000,
        disk_gb=SYSTEM_GB + cameras * part.visits_a_day * RETENTION_DAYS * part.visit_bytes / 1e9,
        megabits=bytes_a_second * 8 / 1e6,
        is_measured=False,
        missed=0.0,
    )


def device_loads(parts: list[ScenePart], requests: RequestCosts) -> list[Load]:
    return [device_load(part, requests, cameras) for part in parts for cameras in DEVICE_COUNTS]


def device_section(devices: list[DeviceCost], loads: list[Load], requests: RequestCosts, *, here: CoreSpeed) -> str:
    boards = [(board.name, board.slowdown(here), "computed") for board in BOARDS]
    rows = [
        _device_row(name, device, slowdown, how)
        for name, slowdown, how in [("a core of this machine", 1.0, "measured"), *boards]
        for device in devices
    ]
    slowdowns = "\n".join(_slowdown(board, here) for board in BOARDS)
    batch_ms, report_ms = 1000 * requests.batch_s, 1000 * requests.report_s
    table, servers = "\n".join(rows), "\n".join(format_row(load) for load in loads)
    return f"""## Computed on the device

### The device

A device [computes by itself](../concepts/edge.md), {FPS} frames a second, and sends visits. With nobody there and
nothing moving it computes one frame a second, a fifth of this. `onlooker-agent doctor` measures it on yours.

| device | view | CPU of a frame | frames a second, one thread | a core at {FPS} a second | memory | |
|---|---|---|---|---|---|---|
{table}

- **measured**: the real agent with a film as its camera, as `just bench-edge` runs it, on one core of this machine
  ({here.name}). It stands for an x86 mini PC, whose clock is higher and whose units are often narrower.
- **computed**: the milliseconds of this machine x the operations that its core can do in a second / those of the other
  core, with single precision: {here.operations_a_cycle} a cycle x {here.gigahertz:.1f} GHz here.
{slowdowns}
  Wide units are used less well than narrow ones, so take it as an upper bound until somebody measures it. Above 100 % a
  device drops frames as `busy`: lower `--fps`, or try `--compute-threads 2`.

### The server

| view | cameras | cores busy | cores to have | memory | disk | network in | dollars a month | |
|---|---|---|---|---|---|---|---|---|
{servers}

- **cores busy**: {requests.idle_cores:.3f} at rest + two requests of each device a minute ({batch_ms:.1f} ms
  for visits and coverage, {report_ms:.1f} ms for its condition, each over a new connection) +
  {1000 * requests.visit_s:.2f} ms a visit, in the hours in which the place is open. These times are measured here.
- **memory**: what the product has at rest + {GATEWAY_MB} MB for each gateway after the first, one for each core
  that is busy.
- **disk**: {SYSTEM_GB} GB + visits, as above; there are no states of sessions.
- **network in**: two requests a minute of {requests.request_bytes:.0f} bytes +
  {requests.visit_bytes:.0f} bytes a visit.
- The other columns are as above. All rows are computed.
"""


def _slowdown(board: CoreSpeed, here: CoreSpeed) -> str:
    speed = f"{board.operations_a_cycle} a cycle x {board.gigahertz} GHz"
    return f"  {board.name}: {speed}, so {board.slowdown(here):.1f} times as long."


def _device_row(name: str, device: DeviceCost, slowdown: float, how: str) -> str:
    frame_ms = device.frame_ms * slowdown
    figures = (
        name,
        device.view,
        f"{frame_ms:.1f} ms" if frame_ms < 100 else f"{frame_ms:.0f} ms",
        f"{1000 / frame_ms:.1f}" if frame_ms > 100 else f"{1000 / frame_ms:.0f}",
        f"{frame_ms * FPS / 1000:.0%}",
        f"{device.memory_mb:.0f} MB",
        how,
    )
    return f"| {' | '.join(figures)} |"
