"""What happens when after a payment failed: mails, and at the end the stream is a developer stream again."""

from dataclasses import dataclass
from datetime import datetime, timedelta

GRACE = timedelta(days=7)
STEPS = (timedelta(0), GRACE - timedelta(days=3), GRACE - timedelta(days=1))
"""When a mail is due, counted from the failed payment."""


@dataclass(frozen=True)
class Grace:
    """Where a subscription stands in its grace at some moment."""

    mails_due: int
    ends_at: datetime
    is_over: bool
    next_at: datetime
    """When the next thing is due."""


def grace_at(now: datetime, *, since: datetime) -> Grace:
    moments = [since + step for step in STEPS]
    ends_at = since + GRACE
    later = [moment for moment in (*moments, ends_at) if moment > now]
    return Grace(
        mails_due=sum(moment <= now for moment in moments),
        ends_at=ends_at,
        is_over=now >= ends_at,
        next_at=later[0] if later else now,
    )
