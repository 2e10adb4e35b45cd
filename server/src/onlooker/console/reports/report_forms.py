"""The form of a mailed report."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import get_language, gettext_lazy, pgettext_lazy
from django.utils.translation import gettext as _

from onlooker.console.forms import PlainForm
from onlooker.console.languages.locale_text import translate
from onlooker.console.reports.mailed_reports import (
    RECIPIENTS_AT_MOST,
    REPORT_PERIODS,
    ReportChoices,
    allows_outside,
    check_address,
)
from onlooker.console.reports.models import LONGEST_LABEL, MailedReport
from onlooker.console.reports.saved_views import Subject
from onlooker.streams.models import Membership
from onlooker.streams.organisations import RefusedError

MONTHLY = "monthly"
DAYS = {
    "0": gettext_lazy("Every Monday"),
    "1": gettext_lazy("Every Tuesday"),
    "2": gettext_lazy("Every Wednesday"),
    "3": gettext_lazy("Every Thursday"),
    "4": gettext_lazy("Every Friday"),
    "5": gettext_lazy("Every Saturday"),
    "6": gettext_lazy("Every Sunday"),
    MONTHLY: gettext_lazy("On the first day of each month"),
}
HOURS = {str(hour): f"{hour:02}:00" for hour in range(24)}
MEMBERS_OFFERED = 200
_LONGEST_ADDRESS = 254


class AddressesField(forms.CharField):
    """E-mail addresses, each on a line of its own."""

    def __init__(self, **options: Any) -> None:
        longest = (_LONGEST_ADDRESS + 2) * RECIPIENTS_AT_MOST
        super().__init__(required=False, max_length=longest, widget=forms.Textarea(attrs={"rows": 3}), **options)

    def clean(self, value: Any) -> list[str]:
        found = list(dict.fromkeys(one.lower() for one in super().clean(value).split()))
        try:
            for address in found:
                check_address(address)
        except RefusedError as error:
            raise forms.ValidationError(translate(error)) from None
        return found


class ReportForm(PlainForm):
    """How a report is called, when it is sent, over which time, and to whom."""

    name = forms.CharField(
        max_length=LONGEST_LABEL,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("The subject of the e-mails begins with it."),
    )
    day = forms.ChoiceField(choices=list(DAYS.items()), label=gettext_lazy("When"), initial="0")
    hour = forms.ChoiceField(
        choices=list(HOURS.items()), label=pgettext_lazy("heading: time of day", "At"), initial="7"
    )
    period = forms.ChoiceField(choices=list(REPORT_PERIODS.items()), label=gettext_lazy("Period"), initial="last-week")
    language = forms.ChoiceField(
        choices=settings.LANGUAGES,
        label=gettext_lazy("Language"),
        help_text=gettext_lazy("Those who have chosen a language in the console get it in that one."),
    )
    members = forms.MultipleChoiceField(
        required=False, label=gettext_lazy("Members"), widget=forms.CheckboxSelectMultiple
    )
    outside = AddressesField(
        label=gettext_lazy("Other addresses"),
        help_text=gettext_lazy("Each on a line of its own. Each of them can unsubscribe with one click."),
    )

    def __init__(
        self, subject: Subject, *, report: MailedReport | None = None, account_id: int, data: Any = None
    ) -> None:
        super().__init__(data, initial=_initial(subject, report, account_id), auto_id="report-%s")
        self.fields["hour"].help_text = _("By the clock there: {zone}.").format(zone=subject.zone.key)
        rows = Membership.objects.filter(organisation=subject.organisation, account__is_active=True)
        offered = rows.order_by("account__email").values_list("account_id", "account__email")[:MEMBERS_OFFERED]
        self.fields["members"].choices = [(str(number), email) for number, email in offered]  # type: ignore[attr-defined]
        self.fields["members"].help_text = _("A member who does not see all of these streams gets nothing.")
        if not allows_outside(subject.organisation) and not self.initial.get("outside"):
            del self.fields["outside"]

    @property
    def choices(self) -> ReportChoices:
        """Once the form is valid."""
        given = self.cleaned_data
        return ReportChoices(
            name=given["name"],
            weekday=None if given["day"] == MONTHLY else int(given["day"]),
            hour=int(given["hour"]),
            period=given["period"],
            language=given["language"],
            members=[int(number) for number in given["members"]],
            outside=given.get("outside", []),
        )


def _initial(subject: Subject, report: MailedReport | None, account_id: int) -> dict[str, Any]:
    if report is None:
        return {"name": subject.title, "language": get_language(), "members": [str(account_id)]}
    present = report.recipients.filter(stopped_at=None)
    return {
        "name": report.name,
        "day": MONTHLY if report.weekday is None else str(report.weekday),
        "hour": str(report.hour),
        "period": report.period,
        "language": report.language,
        "members": [str(number) for number in present.exclude(account=None).values_list("account_id", flat=True)],
        "outside": "\n".join(present.filter(account=None).order_by("email").values_list("email", flat=True)),
    }
