"""A chore: detects live streams that went silent or are back, and mails their owners."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from onlooker.console.alerts.models import StreamSilence
from onlooker.console.alerts.owner_mails import (
    AlertKind,
    are_alerts_on,
    digest_context,
    format_duration,
    local_time,
    mail_owners,
    record_changes,
)
from onlooker.console.web.mail import is_mail_on, send_mail
from onlooker.streams.condition import FRESH_S


def send_silence_alerts(now: datetime | None = None) -> int:
    """Returns how many mails were sent."""
    if not are_alerts_on():
        return 0
    moment = now or timezone.now()
    record_changes(SILENCES, moment, fresh_s=FRESH_S)
    return mail_owners(SILENCES, moment) if is_mail_on() else 0


def send_alert(silence: StreamSilence, to: str) -> None:
    """`silent`, `quota` or `back`."""
    stream = silence.stream
    context = {
        "stream": stream,
        "silent_since": local_time(silence.silent_since, stream.time_zone),
        "back_at": local_time(silence.back_at, stream.time_zone) if silence.back_at else "",
        "silent_for": format_duration((silence.back_at or silence.begun_at) - silence.silent_since),
    }
    send_mail(f"alerts/mails/{'back' if silence.back_at else silence.reason}", to=to, context=context)


def send_site_alert(silences: list[StreamSilence], to: str) -> None:
    send_mail("alerts/mails/site_silent", to=to, context=digest_context(silences, _line))


def _line(silence: StreamSilence) -> dict[str, Any]:
    zone = silence.stream.time_zone
    return {
        "stream": silence.stream,
        "is_quota": silence.reason == StreamSilence.SilenceReason.QUOTA,
        "since": local_time(silence.silent_since, zone),
        "back_at": local_time(silence.back_at, zone) if silence.back_at else "",
    }


def describe_silence(silence: StreamSilence) -> dict[str, Any]:
    """For webhooks."""
    back_at = silence.back_at.isoformat() if silence.back_at else None
    return {"reason": silence.reason, "since": silence.silent_since.isoformat(), "back_at": back_at}


SILENCES = AlertKind(
    table=StreamSilence,
    changes=("end_silences", "forget_silences", "begin_silences"),
    take_mails="take_silence_mails",
    take_site="take_silences_of_site",
    send=send_alert,
    send_site=send_site_alert,
    events={"begin_silences": "stream.silent", "end_silences": "stream.back"},
    describe=describe_silence,
)
