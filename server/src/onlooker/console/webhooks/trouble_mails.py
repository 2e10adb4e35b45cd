"""A chore: tells owners that a webhook was disabled."""

import logging
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.db.models import Q
from django.utils import timezone

from onlooker.console.alerts.owner_mails import local_time
from onlooker.console.languages.choice import write_to
from onlooker.console.web.mail import SINGLE_MAIL_ERRORS, is_mail_on, send_mail
from onlooker.logs import fields
from onlooker.streams.models import MemberRole, Membership
from onlooker.webhooks.models import Endpoint

log = logging.getLogger(__name__)

AT_ONCE = 10
PEOPLE_AT_MOST = 20
TOLD_WITHIN = timedelta(days=1)


def send_disabled_mails(now: datetime | None = None) -> int:
    """Returns how many webhooks were told of. A crash may repeat a mail, never lose one."""
    if not is_mail_on():
        return 0
    moment = now or timezone.now()
    rows = Endpoint.objects.filter(told_at=None, disabled_at__gt=moment - TOLD_WITHIN)
    rows = rows.exclude(disabled_why=Endpoint.Disabled.BY_PERSON).select_related("organisation")
    told = 0
    for endpoint in rows.order_by("disabled_at")[:AT_ONCE]:
        for email in _owners(endpoint):
            try:
                with write_to(email):
                    send_mail("webhooks/mails/disabled", to=email, context=_context(endpoint))
            except SINGLE_MAIL_ERRORS as error:
                log.warning("a mail was refused", extra=fields(webhook=endpoint.pk, error=type(error).__name__))
        Endpoint.objects.filter(pk=endpoint.pk, disabled_at=endpoint.disabled_at).update(told_at=moment)
        told += 1
    return told


def _owners(endpoint: Endpoint) -> list[str]:
    owners = Membership.objects.filter(
        organisation=endpoint.organisation_id, role=MemberRole.OWNER, account__is_active=True
    )
    rows = EmailAddress.objects.filter(Q(verified=True, primary=True), user__in=owners.order_by("id").values("account"))
    return list(rows.order_by("id").values_list("email", flat=True)[:PEOPLE_AT_MOST])


def _context(endpoint: Endpoint) -> dict[str, object]:
    return {
        "webhook": endpoint,
        "organisation": endpoint.organisation,
        "reason": endpoint.get_disabled_why_display(),
        "disabled_at": local_time(endpoint.disabled_at, "UTC") if endpoint.disabled_at else "",
        "waiting": endpoint.waiting().count(),
    }
