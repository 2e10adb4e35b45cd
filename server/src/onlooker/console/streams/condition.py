"""The condition of a stream's camera now, in words: what its agent reports, and what its newest frames show."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from onlooker.streams.condition import FRESH_S, AgentState, DropReason
from onlooker.streams.models import AgentCondition, PictureCondition, Stream
from onlooker_pipeline.service_call import PictureFault

SEES = "Sees"
_LABELS: dict[str, str] = {
    "": SEES,
    PictureFault.BLACK: "Black",
    PictureFault.COVERED: "Covered",
    PictureFault.DARK: "Too dark",
    PictureFault.OVEREXPOSED: "Overexposed",
    PictureFault.BLURRED: "Blurred",
    PictureFault.FROZEN: "Frozen",
    PictureFault.MOVED: "Moved",
    AgentState.SEEING: "Connected",
    AgentState.CAMERA_LOST: "Camera lost",
    AgentState.SOURCE_SILENT: "No pictures",
}
_ADVICE: dict[str, str] = {
    PictureFault.BLACK: "The picture is black. Check the shutter, and that nothing covers the lens.",
    PictureFault.COVERED: "Something covers the lens. Remove it.",
    PictureFault.DARK: "It is too dark to find people. Leave a light on.",
    PictureFault.OVEREXPOSED: "Most of the picture is white. Turn the camera away from the light.",
    PictureFault.BLURRED: "The picture is blurred. Clean the lens and focus it.",
    PictureFault.FROZEN: "The picture does not change at all. Restart the camera.",
    AgentState.CAMERA_LOST: "The device can't open its camera. Check the camera's cable and power.",
    AgentState.SOURCE_SILENT: "The camera is connected but gives no pictures. Restart it.",
}
"""The first sentence says what is wrong, the second what to do."""
DROP_TEXTS: dict[str, str] = {
    DropReason.BUSY: "the line or the server is too slow",
    DropReason.BANDWIDTH_CAP: "the agent's bandwidth limit",
    DropReason.SERVER_BUSY: "the server was busy",
    DropReason.BAD_CREDENTIALS: "wrong Login or Password",
    DropReason.QUOTA_EXCEEDED: "the monthly limit is reached",
    DropReason.STREAM_DISABLED: "the stream was disabled",
    DropReason.CLOSED: "the stream was closed",
    DropReason.UNREACHABLE: "the server could not be reached",
    DropReason.CONNECTION_LOST: "connections broke",
    DropReason.TIMED_OUT: "answers took too long",
    DropReason.OVERTAKEN: "newer frames were answered first",
    DropReason.REFUSED: "the server refused them",
    DropReason.COMPUTATION_FAILED: "the server could not compute them",
    DropReason.BROKEN_PICTURE: "the camera gave damaged pictures",
    DropReason.STOPPED: "the agent was stopped",
    DropReason.OTHER: "reasons that only a newer server knows",
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
        label=_LABELS.get(told.state, told.state),  # a gateway may be a version ahead
        since=told.since_at,
        told_at=told.received_at,
        advice=describe_reason(told.state),
        figures=describe_frames(told) if told.state == AgentState.SEEING else "",
        version=told.version,
    )


def describe_picture(judged: PictureCondition) -> ConditionLine:
    return ConditionLine(
        label=_LABELS.get(judged.fault, judged.fault),
        since=judged.since_at,
        told_at=judged.seen_at,
        advice=describe_reason(judged.fault),
    )


def describe_reason(reason: str) -> str:
    """What is wrong and what to do, for a fault or a state; nothing where the camera sees."""
    return _ADVICE.get(reason, "")


def describe_frames(told: AgentCondition) -> str:
    """Such as `9.7 frames a second; 3 % dropped: the line or the server is too slow`."""
    if not told.over_s:
        return ""
    rate = f"{told.sent / told.over_s:.1f} frames a second"
    dropped = sum(told.dropped.values())
    if not dropped:
        return rate
    share = 100 * dropped / (dropped + told.sent)
    shown = "less than 1 %" if share < 1 else f"{share:.0f} %"
    reasons = sorted(told.dropped, key=lambda reason: -told.dropped[reason])[:DROPS_SHOWN]
    return f"{rate}; {shown} dropped: {', '.join(DROP_TEXTS.get(reason, reason) for reason in reasons)}"
