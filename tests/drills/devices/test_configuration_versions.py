"""Settings and versions of several devices against a small oracle that merges and numbers by brute force."""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from onlooker.devices.bulk_configuration import apply_configuration, plan_configuration
from onlooker.devices.configuration import (
    choose_template,
    document_for,
    report_configuration,
    set_device_settings,
    set_site_settings,
    set_template_settings,
)
from onlooker.devices.models import Device, DeviceConfiguration, DeviceTemplate
from onlooker.streams.models import Organisation, Site, Stream

pytestmark = pytest.mark.django_db
BY = "command:test"
DEVICES = 3
PLACES = 2
NAMES = ("fps", "quality", "log_level")
VALUES: dict[str, list[Any]] = {
    "fps": [None, 1.0, 2.5],
    "quality": [None, 50, 60],
    "log_level": [None, "debug", "info"],
    "compute": [None, "server", "device"],
}

Changes = dict[str, Any]
changes = st.dictionaries(st.sampled_from(NAMES), st.integers(0, 2), min_size=1).map(
    lambda chosen: {name: VALUES[name][number] for name, number in chosen.items()}
)
own_changes = st.dictionaries(st.sampled_from([*NAMES, "compute"]), st.integers(0, 2), min_size=1).map(
    lambda chosen: {name: VALUES[name][number] for name, number in chosen.items()}
)
device, place = st.integers(0, DEVICES - 1), st.integers(0, PLACES - 1)
step = st.one_of(
    st.tuples(st.just("template"), place, changes),
    st.tuples(st.just("site"), place, changes),
    st.tuples(st.just("device"), device, own_changes),
    st.tuples(st.just("bulk"), st.sets(device), own_changes),
    st.tuples(st.just("move"), device, st.none() | place),
    st.tuples(st.just("choose"), device, st.none() | place),
    st.tuples(st.just("compute"), device, st.sampled_from(["server", "device"])),
    st.tuples(st.just("report"), device, st.sampled_from(["applied", "refused", "rolled_back", "trying"])),
)


@dataclass
class BoxOracle:
    """A device, as one would do it on paper."""

    template: int | None = 0
    site: int | None = 0
    compute: str = "server"
    own: Changes = field(default_factory=dict)
    versions: list[tuple[Changes, str]] = field(default_factory=list)
    """Settings and state; the first is version 1."""


@dataclass
class Oracle:
    """All of them, after each step."""

    templates: list[Changes] = field(default_factory=lambda: [{} for _ in range(PLACES)])
    sites: list[Changes] = field(default_factory=lambda: [{} for _ in range(PLACES)])
    boxes: list[BoxOracle] = field(default_factory=lambda: [BoxOracle() for _ in range(DEVICES)])

    def document(self, box: BoxOracle) -> Changes:
        found: Changes = {}
        for name in VALUES:
            for level in (
                box.own,
                self.sites[box.site] if box.site is not None else {},
                self.templates[box.template] if box.template is not None else {},
                {"compute": box.compute},
            ):
                if level.get(name) is not None:
                    found[name] = level[name]
                    break
        return found

    def settle(self) -> None:
        for box in self.boxes:
            document = self.document(box)
            if not box.versions or box.versions[-1][0] != document:
                box.versions.append((document, "new"))

    def offered(self, box: BoxOracle) -> tuple[int, Changes]:
        number = len(box.versions)
        if box.versions[-1][1] in ("refused", "rolled_back"):
            good = [at for at, (_, state) in enumerate(box.versions, start=1) if state == "applied"]
            number = max(good, default=0)
        return number, box.versions[number - 1][0] if number else {}

    def take(self, kind: str, which: Any, what: Any) -> None:
        if kind in ("template", "site"):
            (self.templates if kind == "template" else self.sites)[which].update(what)
        elif kind in ("device", "bulk"):
            for number in [which] if kind == "device" else which:
                self.boxes[number].own.update(what)
        elif kind == "report":
            box = self.boxes[which]
            number, _ = self.offered(box)
            if number:
                box.versions[number - 1] = (box.versions[number - 1][0], what)
        else:
            setattr(self.boxes[which], {"move": "site", "choose": "template", "compute": "compute"}[kind], what)
        self.settle()


@dataclass(frozen=True)
class Fleet:
    """The same in the database."""

    templates: list[DeviceTemplate]
    sites: list[Site]
    devices: list[Device]

    def take(self, kind: str, which: Any, what: Any) -> None:
        if kind == "template":
            set_template_settings(self.templates[which], what, by=BY)
        elif kind == "site":
            set_site_settings(self.sites[which], what, by=BY)
        elif kind == "device":
            set_device_settings(self.devices[which], what, by=BY)
        elif kind == "bulk":
            rows = Device.objects.filter(pk__in=[self.devices[one].pk for one in which])
            apply_configuration(plan_configuration(rows, what), what, by=BY)
        elif kind == "move":
            streams = Stream.objects.filter(devices=self.devices[which])
            streams.update(site=None if what is None else self.sites[what])
        elif kind == "choose":
            choose_template(self.devices[which], None if what is None else self.templates[what], by=BY)
        elif kind == "compute":
            Stream.objects.filter(devices=self.devices[which]).update(compute=what)
        else:
            offered = document_for(self.devices[which])
            report_configuration(self.devices[which].pk, offered.etag, what, "")


def new_fleet() -> Fleet:
    organisation = Organisation.objects.create(name="Oracle")
    templates = [DeviceTemplate.objects.create(organisation=organisation, name=str(one)) for one in range(PLACES)]
    sites = [Site.objects.create(organisation=organisation, name=str(one)) for one in range(PLACES)]
    devices = []
    for number in range(DEVICES):
        stream = Stream.objects.create(organisation=organisation, site=sites[0], name=str(number))
        key = f"{stream.pk:032}".encode()
        devices.append(Device.objects.create(stream=stream, key_sha256=key, template=templates[0]))
    for one in devices:
        document_for(one)
    return Fleet(templates, sites, devices)


@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(steps=st.lists(step, max_size=10))
def test_settings_and_versions_are_what_the_oracle_says(steps: list[tuple[str, Any, Any]]) -> None:
    fleet, oracle = new_fleet(), Oracle()
    oracle.settle()
    for kind, which, what in steps:
        fleet.take(kind, which, what)
        oracle.take(kind, which, what)
        for found, expected in zip(fleet.devices, oracle.boxes, strict=True):
            rows = DeviceConfiguration.objects.filter(device=found).order_by("version")
            assert [(one.settings, one.state) for one in rows] == expected.versions, "without anybody's asking"
            document = document_for(found)
            assert (document.version, document.settings) == oracle.offered(expected)
