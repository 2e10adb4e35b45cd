"""A chore: detects cameras that see nothing or see again, and mails their owners."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from onlooker.console.alerts.models import BlindCamera
from onlooker.console.alerts.owner_mails import (
    AlertKind,
    are_alerts_on,
    digest_context,
    format_duration,
    local_time,
    mail_owners,
    record_changes,
)
from onlooker.console.streams.condition import describe_reason
from onlooker.console.web.mail import is_mail_on, send_mail
from onlooker.streams.condition import FRESH_S, SIGHT_S


def send_blind_alerts(now: datetime | None = None) -> int:
    """Returns how many mails were sent."""
    if not are_alerts_on():
        return 0
    moment = now or timezone.now()
    record_changes(BLIND_CAMERAS, moment, fresh_s=FRESH_S, sight_s=SIGHT_S)
    return mail_owners(BLIND_CAMERAS, moment) if is_mail_on() else 0


def send_blind_alert(blind: BlindCamera, to: str) -> None:
    """`blind` or `sees`."""
    stream = blind.stream
    context = {
        "stream": stream,
        "reason": describe_reason(blind.reason),
        "blind_since": local_time(blind.blind_since, stream.time_zone),
        "back_at": local_time(blind.back_at, stream.time_zone) if blind.back_at else "",
        "blind_for": format_duration((blind.back_at or blind.begun_at) - blind.blind_since),
    }
    send_mail(f"alerts/mails/{'sees' if blind.back_at else 'blind'}", to=to, context=context)


def send_site_alert(blind: list[BlindCamera], to: str) -> None:
    send_mail("alerts/mails/site_blind", to=to, context=digest_context(blind, _line))


def _line(blind: BlindCamera) -> dict[str, Any]:
    zone = blind.stream.time_zone
    return {
        "stream": blind.stream,
        "reason": describe_reason(blind.reason),
        "since": local_time(blind.blind_since, zone),
        "back_at": local_time(blind.back_at, zone) if blind.back_at else "",
    }


def describe_blindness(blind: BlindCamera) -> dict[str, Any]:
    """For webhooks."""
    back_at = blind.back_at.isoformat() if blind.back_at else None
    return {"reason": blind.reason, "since": blind.blind_since.isoformat(), "back_at": back_at}


BLIND_CAMERAS = AlertKind(
    table=BlindCamera,
    changes=("end_blind_cameras", "forget_blind_cameras", "begin_blind_cameras"),
    take_mails="take_blind_mails",
    take_site="take_blind_cameras_of_site",
    send=send_blind_alert,
    send_site=send_site_alert,
    events={"begin_blind_cameras": "camera.blind", "end_blind_cameras": "camera.back"},
    describe=describe_blindness,
)
