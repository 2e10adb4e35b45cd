"""A chore: detects live streams that went silent or are back, and mails their owners."""

from datetime import datetime

from django.utils import timezone

from onlooker.console.alerts.models import StreamSilence
from onlooker.console.alerts.owner_mails import AlertKind, format_duration, local_time, mail_owners, record_changes
from onlooker.console.web.mail import is_mail_on, send_mail
from onlooker.streams.condition import FRESH_S


def send_silence_alerts(now: datetime | None = None) -> int:
    """Returns how many mails were sent."""
    if not is_mail_on():
        return 0
    moment = now or timezone.now()
    record_changes(SILENCES, moment, fresh_s=FRESH_S)
    return mail_owners(SILENCES, moment)


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


SILENCES = AlertKind(
    table=StreamSilence,
    changes=("end_silences", "forget_silences", "begin_silences"),
    take_mails="take_silence_mails",
    send=send_alert,
)
