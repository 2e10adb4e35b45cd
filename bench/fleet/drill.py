"""The steps of the drill: enrol, run, move, reconfigure, replace, revoke, stop. Each waits until the server says so."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.fleet.box_processes import BoxProcesses
from bench.fleet.consumption import compare_readings, read_server
from bench.fleet.expectation import Row, StreamExpectation, count_states, read_devices
from bench.fleet.made_camera import DYING, MISSING
from bench.fleet.management import ManagementApi
from bench.lib.product import say
from testkit import Stack

SITES = ("North", "South")
SITE_SETTINGS = {"log_level": "warning"}
"""Of the second site: who is moved there gets another document."""
CHANGE: dict[str, Any] = {"quality": 70}
LOOK_EVERY_S = 5.0


@dataclass(frozen=True)
class DrillPlan:
    """How many of what."""

    devices: int
    replaced: int
    revoked: int
    steady_s: float
    trial_s: float

    @property
    def limit_s(self) -> float:
        """For what devices do by themselves: two reports, a trial, and a machine that has much to do."""
        return 300.0 + 2 * self.trial_s + self.devices / 2


@dataclass
class FleetDrill:
    """What is done to the fleet, and what must come of it."""

    stack: Stack
    api: ManagementApi
    boxes: BoxProcesses
    plan: DrillPlan
    streams: dict[str, StreamExpectation] = field(default_factory=dict)
    """What each must be like now, by client_id."""
    sites: list[int] = field(default_factory=list)
    figures: dict[str, Any] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def enrol(self) -> None:
        """All with one code, from all processes at once."""
        self.sites = [self.api.post("sites", {"name": name})["id"] for name in SITES]
        self.api.patch(f"sites/{self.sites[1]}", {"device_settings": SITE_SETTINGS})
        template = self.api.post("templates", {"name": "Player", "preset": "counts", "compute": "device"})
        asked = {"template": template["id"], "site": self.sites[0], "devices": self.plan.devices}
        code = self.api.post("enrolment-codes", asked)["code"]
        names = [f"box-{number:04d}" for number in range(self.plan.devices)]
        began = time.monotonic()
        for name, said in self.boxes.enrol(names, code).items():
            if said["refused"]:
                self.faults.append(f"{name} was refused: {said['refused']}")
            else:
                self.streams[said["client_id"]] = StreamExpectation(self.sites[0], [name])
        self.figures["enrolled"] = len(self.streams)
        self.figures["enrolled_in_s"] = round(time.monotonic() - began, 1)
        refused = self.boxes.enrol(["box-too-many"], code)["box-too-many"]["refused"]
        self._require("as many have enrolled" in refused, f"one device too many was told: {refused!r}")

    def begin(self) -> None:
        self.boxes.order("start", self.boxes_of(self.streams))
        self._await("live devices with their configuration", _is_settled, self.plan.devices)

    def measure(self) -> None:
        """While nothing but frames, reports and visits happens."""
        say(f"measuring for {self.plan.steady_s:.0f} s ...")
        before = read_server(self.stack)
        time.sleep(self.plan.steady_s)
        self.figures["per_1000_devices_and_hour"] = compare_readings(
            before, read_server(self.stack), devices=self.plan.devices
        )

    def move(self) -> None:
        """A third of the streams to the second site, in one request; the document of that site follows."""
        moved = list(self.streams)[::3]
        order = {"select": {"streams": moved}, "change": {"site": self.sites[1]}}
        preview = self.api.post("streams/bulk", {**order, "preview": True})
        self._require(preview["changed"] == len(moved), f"the preview names {preview['changed']}, not {len(moved)}")
        self.figures["moved"] = self.api.post("streams/bulk", {**order, "preview": False})["changed"]
        for client_id in moved:
            self.streams[client_id].site = self.sites[1]
        self._await("devices with the document of their site", self._has_site_document, self.plan.devices)

    def break_configuration(self) -> None:
        """One change for all devices. Its camera can be opened, and then gives nothing: they must go back."""
        changed = self._change({**CHANGE, "source": DYING})
        self.figures["reconfigured"] = changed
        rolled_back = self._await("devices that rolled back", _is_rolled_back, self.plan.devices)
        self.figures["rolled_back"] = rolled_back
        working = self._await("devices that work as before", _works_as_before, self.plan.devices)
        self.figures["working_after_rollback"] = working

    def repair_configuration(self) -> None:
        """The same without the broken setting; and a camera for one device that is not there at all."""
        self._change({**CHANGE, "source": None})
        self.figures["applied"] = self._await("devices with the repaired change", _is_settled, self.plan.devices)
        one = next(row for row in read_devices(self.stack) if not row["is_revoked"])
        self.api.patch(f"devices/{one['device']}", {"settings": {"source": MISSING}})
        self.figures["refused"] = self._await("device that refused a camera", _is_refused, 1)
        self.api.patch(f"devices/{one['device']}", {"settings": {"source": None}})
        self._await("devices with a right configuration", _is_settled, self.plan.devices)

    def replace(self) -> None:
        """Every second of the old boxes is stopped first; the others run on until they are refused."""
        chosen = list(self.streams)[1 :: max(1, len(self.streams) // self.plan.replaced)][: self.plan.replaced]
        self.boxes.order("stop", self.boxes_of(chosen[::2]))
        device_of = {row["stream"]: row["device"] for row in read_devices(self.stack) if not row["is_revoked"]}
        new: list[str] = []
        for client_id in chosen:
            code = self.api.post(f"devices/{device_of[client_id]}/replacement")["code"]
            name = f"{self.streams[client_id].boxes[-1]}-new"
            said = self.boxes.enrol([name], code)[name]
            self._require(said["client_id"] == client_id, f"{name} did not take over {client_id}: {said}")
            self.streams[client_id].boxes.append(name)
            new.append(name)
        self.boxes.order("start", new)
        self.figures["replaced"] = len(new)
        self._await("live devices after the replacements", _is_settled, self.plan.devices)
        self._await_told([self.streams[client_id].boxes[0] for client_id in chosen[1::2]])

    def revoke(self) -> None:
        """They run on, are refused, and are told why."""
        chosen = [one for one in self.streams if len(self.streams[one].boxes) == 1][-self.plan.revoked :]
        device_of = {row["stream"]: row["device"] for row in read_devices(self.stack) if not row["is_revoked"]}
        for client_id in chosen:
            self.api.post(f"devices/{device_of[client_id]}/revoke")
            self.streams[client_id].is_revoked = True
        self.figures["revoked"] = len(chosen)
        self._await_told(self.boxes_of(chosen))

    def finish(self) -> dict[str, dict[str, Any]]:
        """Until all that may still be sent is sent; then what each box made."""
        all_boxes = [name for one in self.streams.values() for name in one.boxes]
        self.boxes.order("quieten", all_boxes)
        say("waiting for the last uploads ...")
        live = self.boxes_of([client_id for client_id, one in self.streams.items() if not one.is_revoked])
        self._poll(lambda: self._sent(live), len(live), "boxes with an empty journal", self.plan.limit_s)
        ended = self.boxes.order("stop", all_boxes)
        self._require(all(ended.values()), f"{sum(not one for one in ended.values())} agents did not stop")
        return self.boxes.order("tell", all_boxes)

    def boxes_of(self, client_ids: Sequence[str] | dict[str, StreamExpectation]) -> list[str]:
        """The newest of each stream."""
        return [self.streams[client_id].boxes[-1] for client_id in client_ids]

    def _change(self, settings: dict[str, Any]) -> int:
        """Of all devices at once, after a preview."""
        order = {"select": {"all": True}, "settings": settings}
        preview = self.api.post("device-configurations", {**order, "preview": True})
        done = self.api.post("device-configurations", {**order, "preview": False})
        self._require(preview["changed"] == done["changed"], f"preview and change differ: {preview['changed']}")
        return int(done["changed"])

    def _has_site_document(self, row: Row) -> bool:
        return _is_settled(row) and row["site"] == self.streams[row["stream"]].site and _follows_site(row, self.sites)

    def _sent(self, names: list[str]) -> int:
        return sum(not said["waiting_visits"] for said in self.boxes.order("report", names).values())

    def _await_told(self, names: list[str]) -> None:
        """Until each of these boxes knows that it is revoked."""
        told = self._poll(lambda: self._told(names), len(names), "boxes that know they are revoked", self.plan.limit_s)
        self.figures["told_revoked"] = self.figures.get("told_revoked", 0) + told

    def _told(self, names: list[str]) -> int:
        said = self.boxes.order("report", names) if names else {}
        return sum(any("revoked" in text for text in (one["ended"], *one["newest"].values())) for one in said.values())

    def _await(self, what: str, right: Callable[[Row], bool], wanted: int) -> int:
        return self._poll(lambda: count_states(self.stack, right), wanted, what, self.plan.limit_s)

    def _poll(self, count: Callable[[], int], wanted: int, what: str, limit_s: float) -> int:
        """How many in the end; too few is a fault, and the drill goes on."""
        began, shown = time.monotonic(), -1
        while (found := count()) < wanted and time.monotonic() - began < limit_s:
            if found != shown:
                shown = found
                say(f"  {found} of {wanted} {what}")
            time.sleep(LOOK_EVERY_S)
        say(f"  {found} of {wanted} {what}, after {time.monotonic() - began:.0f} s")
        self._require(found >= wanted, f"{found} of {wanted} {what} within {limit_s:.0f} s")
        return found

    def _require(self, right: bool, words: str) -> None:
        if not right:
            say(f"FAULT: {words}")
            self.faults.append(words)


def _newest(row: Row) -> str:
    return str(row["versions"][-1][1]) if row["versions"] else ""


def _is_live(row: Row) -> bool:
    silent_s: float | None = row["silent_s"]
    is_fine = row["condition"] == "fine" and row["camera"] == "open"
    return bool(is_fine and silent_s is not None and silent_s < 2 * 60)


def _is_settled(row: Row) -> bool:
    return _is_live(row) and _newest(row) == row["state"] == "applied"


def _works_as_before(row: Row) -> bool:
    """It has reported the version of before as the one in use."""
    return _is_live(row) and _is_rolled_back(row) and bool(row["state"] == "applied")


def _is_rolled_back(row: Row) -> bool:
    return _newest(row) == "rolled_back"


def _is_refused(row: Row) -> bool:
    return _newest(row) == "refused"


def _follows_site(row: Row, sites: list[int]) -> bool:
    """Whether the newest document has the second site's settings just where it should."""
    said = row["document"] or {}
    has = all(said.get(name) == value for name, value in SITE_SETTINGS.items())
    return has is bool(row["site"] == sites[1])
