"""The condition of a stream's camera now, in words: what its agent reports, and what its newest frames show."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from onlooker.console.languages.locale_text import write_decimal
from onlooker.streams.condition import FRESH_S, AgentState, DropReason
from onlooker.streams.models import AgentCondition, PictureCondition, Stream
from onlooker_pipeline.service_call import PictureFault

_LABELS: dict[str, Promise] = {
    # Translators: the camera sees.
    "": pgettext_lazy("camera", "Sees"),
    PictureFault.BLACK: pgettext_lazy("picture", "Black"),
    PictureFault.COVERED: pgettext_lazy("picture", "Covered"),
    PictureFault.DARK: pgettext_lazy("picture", "Too dark"),
    PictureFault.OVEREXPOSED: pgettext_lazy("picture", "Overexposed"),
    PictureFault.BLURRED: pgettext_lazy("picture", "Blurred"),
    PictureFault.FROZEN: pgettext_lazy("picture", "Frozen"),
    PictureFault.MOVED: pgettext_lazy("picture", "Moved"),
    AgentState.SEEING: _lazy("Connected"),
    AgentState.CAMERA_LOST: _lazy("Camera lost"),
    AgentState.SOURCE_SILENT: _lazy("No pictures"),
}
_ADVICE: dict[str, Promise] = {
    PictureFault.BLACK: _lazy("The picture is black. Check the shutter, and that nothing covers the lens."),
    PictureFault.COVERED: _lazy("Something covers the lens. Remove it."),
    PictureFault.DARK: _lazy("It is too dark to find people. Leave a light on."),
    PictureFault.OVEREXPOSED: _lazy("Most of the picture is white. Turn the camera away from the light."),
    PictureFault.BLURRED: _lazy("The picture is blurred. Clean the lens and focus it."),
    PictureFault.FROZEN: _lazy("The picture does not change at all. Restart the camera."),
    AgentState.CAMERA_LOST: _lazy("The device can't open its camera. Check the camera's cable and power."),
    AgentState.SOURCE_SILENT: _lazy("The camera is connected but gives no pictures. Restart it."),
}
"""The first sentence says what is wrong, the second what to do."""
# Translators: why frames were not sent, after a colon.
DROP_TEXTS: dict[str, Promise] = {
    DropReason.BUSY: _lazy("the line or the server is too slow"),
    DropReason.BANDWIDTH_CAP: _lazy("the agent's bandwidth limit"),
    DropReason.SERVER_BUSY: _lazy("the server was busy"),
    DropReason.BAD_CREDENTIALS: _lazy("wrong Login or Password"),
    DropReason.QUOTA_EXCEEDED: _lazy("the monthly limit is reached"),
    DropReason.STREAM_DISABLED: _lazy("the stream was disabled"),
    DropReason.CLOSED: _lazy("the stream was closed"),
    DropReason.UNREACHABLE: _lazy("the server could not be reached"),
    DropReason.CONNECTION_LOST: _lazy("connections broke"),
    DropReason.TIMED_OUT: _lazy("answers took too long"),
    DropReason.OVERTAKEN: _lazy("newer frames were answered first"),
    DropReason.REFUSED: _lazy("the server refused them"),
    DropReason.COMPUTATION_FAILED: _lazy("the server could not compute them"),
    DropReason.BROKEN_PICTURE: _lazy("the camera gave damaged pictures"),
    DropReason.STOPPED: _lazy("the agent was stopped"),
    DropReason.OTHER: _lazy("reasons that only a newer server knows"),
}
DROPS_SHOWN = 3


@dataclass(frozen=True)
class ConditionLine:
    """What is so, since when, and what to do about it."""

    label: str
    since: datetime
    told_at: datetime
    """When this was last known to be so."""
    advice: str = ""
    figures: str = ""
    """How many frames an agent sends and drops."""
    version: str = ""

    @property
    def is_fresh(self) -> bool:
        return self.told_at > timezone.now() - timedelta(seconds=FRESH_S)


@dataclass(frozen=True)
class CameraCondition:
    """Both views of a camera; each None where there is none."""

    agent: ConditionLine | None
    picture: ConditionLine | None


def read_condition(stream: Stream) -> CameraCondition:
    told = AgentCondition.objects.filter(stream=stream).first()
    judged = PictureCondition.objects.filter(stream=stream).first()
    agent = describe_agent(told) if told else None
    picture = describe_picture(judged) if judged else None
    if agent and agent.is_fresh and agent.advice:  # without pictures there are none to judge
        picture = None
    return CameraCondition(agent, picture)


def describe_agent(told: AgentCondition) -> ConditionLine:
    return ConditionLine(
        label=str(_LABELS.get(told.state, told.state)),  # a gateway may be a version ahead
        since=told.since_at,
        told_at=told.received_at,
        advice=describe_reason(told.state),
        figures=describe_frames(told) if told.state == AgentState.SEEING else "",
        version=told.version,
    )


def describe_picture(judged: PictureCondition) -> ConditionLine:
    return ConditionLine(
        label=str(_LABELS.get(judged.fault, judged.fault)),
        since=judged.since_at,
        told_at=judged.seen_at,
        advice=describe_reason(judged.fault),
    )


def describe_reason(reason: str) -> str:
    """What is wrong and what to do, for a fault or a state; nothing where the camera sees."""
    return str(_ADVICE.get(reason, ""))


def describe_frames(told: AgentCondition) -> str:
    """Such as `9.7 frames a second; 3 % dropped: the line or the server is too slow`."""
    if not told.over_s:
        return ""
    rate = write_decimal(told.sent / told.over_s, 1)
    dropped = sum(told.dropped.values())
    if not dropped:
        return _("{rate} frames a second").format(rate=rate)
    share = 100 * dropped / (dropped + told.sent)
    most = sorted(told.dropped, key=lambda reason: -told.dropped[reason])[:DROPS_SHOWN]
    reasons = ", ".join(str(DROP_TEXTS.get(reason, reason)) for reason in most)
    if share < 1:
        text = _("{rate} frames a second; less than {share} dropped: {reasons}")
    else:
        text = _("{rate} frames a second; {share} dropped: {reasons}")
    return text.format(rate=rate, share=f"{max(1.0, share):.0f} %", reasons=reasons)
