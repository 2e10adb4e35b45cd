"""What somebody chooses for a stream, as a form or as JSON: whether it fits together, and what it sets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from onlooker.streams.models import Site, Stream
from onlooker.streams.options import check_alert_minutes, check_first_hours
from onlooker.streams.presets import (
    EXPRESSION_FORBIDDEN,
    NOTICE_MISSING,
    USUAL,
    CameraPlace,
    Preset,
    check_preset,
    preset_settings,
)

ALERTS = ("silence_alert_minutes", "blind_alert_minutes")

Refusals = dict[str, str]
"""A sentence for each field that can't be so."""


@dataclass(frozen=True)
class StreamChoice:
    """What a new stream begins with, or the streams of a template."""

    place: CameraPlace
    preset: Preset = USUAL
    is_notice_given: bool = False
    time_zone: str = "UTC"
    hours: str = ""

    def find_preset_refusals(self) -> Refusals:
        refusal = check_preset(self.preset, self.place, is_notice_given=self.is_notice_given)
        return {"notice_given" if refusal is NOTICE_MISSING else "preset": refusal} if refusal else {}

    def find_refusals(self) -> Refusals:
        """Of a stream, whose alert times are not asked for."""
        short = check_first_hours(self.hours, alert_minutes=Stream().silence_alert_minutes)
        return ({"hours": short} if short else {}) | self.find_preset_refusals()

    def stream_settings(self, site: Site | None = None) -> dict[str, Any]:
        """Columns of a stream. Without opening hours of its own it begins with those of its site."""
        settings: dict[str, Any] = self.template_settings()
        if site:
            settings |= {"site": site, "hours": self.hours or site.hours}
        notice = {"notice_given_at": timezone.now()} if self.is_notice_given else {}
        return settings | notice

    def template_settings(self) -> dict[str, Any]:
        said = {"place": self.place.value, "hours": self.hours, "time_zone": self.time_zone}
        return said | preset_settings(self.preset)


def find_change_refusals(stream: Stream, changes: Mapping[str, Any]) -> Refusals:
    """Alert times only where they, or the hours, are changed: what was chosen before stays."""
    refusals = {}
    place = CameraPlace(changes.get("place") or stream.place)
    if changes.get("reads_expression", stream.reads_expression) and place.forbids_expression:
        refusals["reads_expression"] = EXPRESSION_FORBIDDEN
    hours = changes.get("hours", stream.hours)
    for name in ALERTS:
        refusal = check_alert_minutes(changes.get(name, getattr(stream, name)), hours)
        if refusal and {name, "hours"} & changes.keys():
            refusals[name] = refusal
    return refusals
