"""What each box and each stream must be like in the end, and whether database and management API say so."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bench.fleet.management import ManagementApi
from testkit import Stack

DEVICES = """
SELECT stream.client_id::text AS stream, stream.site_id AS site, device.device_id::text AS device,
       device.revoked_at IS NOT NULL AS is_revoked, device.settings,
       (SELECT jsonb_agg(jsonb_build_array(one.version, one.state) ORDER BY one.version)
        FROM devices_deviceconfiguration one WHERE one.device_id = device.id) AS versions,
       (SELECT one.settings FROM devices_deviceconfiguration one WHERE one.device_id = device.id
        ORDER BY one.version DESC LIMIT 1) AS document,
       status.configuration_etag, status.configuration_state, status.condition, status.camera_state,
       extract(epoch FROM now() - status.reported_at)::float AS silent_s
FROM devices_device device
JOIN streams_stream stream ON stream.id = device.stream_id
LEFT JOIN devices_devicestatus status ON status.device_id = device.id
WHERE stream.removed_at IS NULL
ORDER BY device.id
"""
COLUMNS = (
    "stream",
    "site",
    "device",
    "is_revoked",
    "settings",
    "versions",
    "document",
    "etag",
    "state",
    "condition",
    "camera",
    "silent_s",
)
SILENT_S = 150.0
"""A device reports every minute; two reports may be late."""
FAULTS_TOLD = 20
Row = dict[str, Any]


@dataclass
class StreamExpectation:
    """Of one stream, by its client_id."""

    site: int
    boxes: list[str]
    """Those that have sent for it, the newest last."""
    is_revoked: bool = False
    """Whether its newest box is revoked; those before it always are."""
    configuration: str = "applied"
    """How its newest version of the configuration ended."""


@dataclass
class Findings:
    """What is not as it must be; the first faults in words."""

    counts: Counter[str] = field(default_factory=Counter)
    words: list[str] = field(default_factory=list)

    def add(self, what: str, words: str) -> None:
        self.counts[what] += 1
        if len(self.words) < FAULTS_TOLD:
            self.words.append(words)

    def require(self, right: bool, what: str, words: str) -> None:
        if not right:
            self.add(what, words)


def read_devices(stack: Stack) -> list[Row]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in stack.execute(DEVICES)]


def check_database(stack: Stack, streams: dict[str, StreamExpectation], wanted: Row) -> Findings:
    """Against the tables. `wanted` are the settings that the last good change gave every device."""
    found = Findings()
    by_stream: dict[str, list[Row]] = {}
    for row in read_devices(stack):
        by_stream.setdefault(row["stream"], []).append(row)
    for client_id in by_stream.keys() - streams.keys():
        found.add("unknown_streams", f"stream {client_id} belongs to no box")
    for client_id, expected in streams.items():
        rows = by_stream.get(client_id, [])
        found.require(
            len(rows) == len(expected.boxes), "devices", f"{client_id}: {len(rows)} devices, not {len(expected.boxes)}"
        )
        for row in rows[:-1]:
            found.require(row["is_revoked"], "not_revoked", f"{client_id}: the box before works on")
        if rows:
            _check_newest(found, rows[-1], expected, wanted)
    return found


def _check_newest(found: Findings, row: Row, expected: StreamExpectation, wanted: Row) -> None:
    name = f"stream {row['stream']}, device {row['device']}"
    found.require(row["site"] == expected.site, "site", f"{name}: site {row['site']}, not {expected.site}")
    found.require(row["is_revoked"] == expected.is_revoked, "revoked", f"{name}: revoked is {row['is_revoked']}")
    if expected.is_revoked:
        return
    versions = row["versions"] or []
    newest = versions[-1][1] if versions else "none"
    found.require(newest == expected.configuration, "configuration", f"{name}: newest version is {newest}: {versions}")
    found.require(
        _is_live(row),
        "health",
        f"{name}: silent for {row['silent_s']} s, condition {row['condition']}, {row['camera']}",
    )
    settings = row["settings"]
    held = all(settings.get(setting) == value for setting, value in wanted.items())
    found.require(held, "settings", f"{name}: settings {settings}, not {wanted}")


def _is_live(row: Row) -> bool:
    return row["silent_s"] is not None and row["silent_s"] < SILENT_S and row["condition"] == "fine"


def check_api(api: ManagementApi, streams: dict[str, StreamExpectation]) -> Findings:
    """The same as the management API tells it, from other code than the tables' own."""
    found = Findings()
    devices = list(api.every("devices", revoked="true"))
    live = {one["stream"]: one for one in devices if one["revoked_at"] is None}
    told = Counter(one["stream"] for one in devices)
    listed = {one["client_id"]: one for one in api.every("streams")}
    for client_id, expected in streams.items():
        name = f"API: stream {client_id}"
        found.require(told[client_id] == len(expected.boxes), "api_devices", f"{name}: {told[client_id]} devices")
        stream = listed.get(client_id, {})
        found.require(stream.get("site") == expected.site, "api_site", f"{name}: site {stream.get('site')}")
        device = live.get(client_id)
        found.require((device is None) == expected.is_revoked, "api_revoked", f"{name}: live device {device}")
        if device is not None and not expected.is_revoked:
            state = (device["configuration"] or {}).get("state")
            found.require(state == expected.configuration, "api_configuration", f"{name}: configuration {state}")
    found.require(len(live) == sum(not one.is_revoked for one in streams.values()), "api_live", f"{len(live)} live")
    return found


def count_states(stack: Stack, right: Callable[[Row], bool]) -> int:
    """How many live devices are as they should be; for waiting, and for the person who watches."""
    return sum(right(row) for row in read_devices(stack) if not row["is_revoked"])
