"""The form of a shared link."""

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Any

from django import forms
from django.contrib.auth.password_validation import validate_password
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from onlooker.console.accounts.passwords import LONGEST_PASSWORD
from onlooker.console.forms import PlainForm
from onlooker.console.languages.locale_text import translate
from onlooker.console.reports.links import LONGEST_LIFE, ORIGINS_AT_MOST, USUAL_LIFE, LinkChoices, check_origin
from onlooker.console.reports.models import LONGEST_LABEL, LONGEST_ORIGIN
from onlooker.console.reports.saved_views import DAY, Subject
from onlooker.streams.organisations import RefusedError

FIXED = "days"
"""The choice of fixed days."""
USUAL_PERIOD = "7d"


class DayField(forms.DateField):
    """With the browser's own calendar."""

    def __init__(self, **options: Any) -> None:
        widget = forms.DateInput(format="%Y-%m-%d", attrs={"type": "date"})
        super().__init__(widget=widget, input_formats=["%Y-%m-%d"], **options)


class OriginsField(forms.CharField):
    """Origins, each on a line of its own."""

    def __init__(self, **options: Any) -> None:
        longest = (LONGEST_ORIGIN + 2) * ORIGINS_AT_MOST
        super().__init__(required=False, max_length=longest, widget=forms.Textarea(attrs={"rows": 2}), **options)

    def clean(self, value: Any) -> list[str]:
        found = list(dict.fromkeys(one.rstrip("/").lower() for one in super().clean(value).split()))
        try:
            for origin in found:
                check_origin(origin)
        except RefusedError as error:
            raise forms.ValidationError(translate(error)) from None
        return found


class LinkForm(PlainForm):
    """For whom a link is, what it shows, and until when."""

    label = forms.CharField(
        max_length=LONGEST_LABEL,
        label=gettext_lazy("Label"),
        help_text=gettext_lazy("For whom it is, such as Landlord. Only owners and managers see this."),
    )
    period = forms.ChoiceField(
        label=gettext_lazy("Period"), help_text=gettext_lazy("A period that moves always shows the newest numbers.")
    )
    first_day = DayField(required=False, label=gettext_lazy("First day, if the days are fixed"))
    last_day = DayField(required=False, label=gettext_lazy("Last day"))
    ends_on = DayField(
        label=gettext_lazy("The link works until the end of"), help_text=gettext_lazy("A year from now at most.")
    )
    password = forms.CharField(
        required=False,
        max_length=LONGEST_PASSWORD,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        label=gettext_lazy("Password, if one is to be asked for"),
        help_text=gettext_lazy("Tell it to those who open the link by another way than the link itself."),
    )
    origins = OriginsField(
        label=gettext_lazy("Websites that may embed it"),
        help_text=gettext_lazy(
            "Each on a line of its own, such as https://www.example.org. Without one, no page may show it in a frame. "
            "A link with a password can't be embedded."
        ),
    )

    def __init__(self, subject: Subject, *, asked: Mapping[str, str], now: datetime, data: Any = None) -> None:
        self._subject = subject
        self._today = now.astimezone(subject.zone).date()
        super().__init__(data, initial=_initial(subject, asked, self._today), auto_id="link-%s")
        fixed = {FIXED: _("Fixed days")} if subject.stream else {}
        self.fields["period"].choices = list((subject.periods | fixed).items())  # type: ignore[attr-defined]
        if not subject.stream:
            del self.fields["first_day"], self.fields["last_day"]
        latest = self._today + LONGEST_LIFE - 2 * DAY
        self.fields["ends_on"].widget.attrs |= {"min": self._today.isoformat(), "max": latest.isoformat()}

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if password:
            validate_password(password)
        return password

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        is_fixed = given.get("period") == FIXED
        if is_fixed and not self.errors and not (given["first_day"] and given["last_day"]):
            self.add_error("first_day", _("Enter the first and the last day."))
        if given.get("password") and given.get("origins"):
            self.add_error("password", _("A link with a password can't be embedded. Leave out one of the two."))
        if not self.errors and not self._today <= given["ends_on"] <= self._today + LONGEST_LIFE - 2 * DAY:
            self.add_error("ends_on", _("Choose a day from today on, within a year."))
        return given

    @property
    def choices(self) -> LinkChoices:
        """Once the form is valid."""
        given = self.cleaned_data
        is_fixed = given["period"] == FIXED
        return LinkChoices(
            label=given["label"],
            period="" if is_fixed else given["period"],
            expires_at=datetime.combine(given["ends_on"] + DAY, time(), self._subject.zone),
            days=(given["first_day"], given["last_day"]) if is_fixed else None,
            password=given["password"],
            origins=given["origins"],
        )


def _initial(subject: Subject, asked: Mapping[str, str], today: date) -> dict[str, Any]:
    """As the page shows it from which somebody comes."""
    initial: dict[str, Any] = {"period": USUAL_PERIOD, "ends_on": today + USUAL_LIFE}
    if asked.get("period") in subject.periods:
        initial["period"] = asked["period"]
    elif subject.stream and "from" in asked:
        first, last = (asked.get(name, "")[: len("2026-11-01")] for name in ("from", "to"))
        initial |= {"period": FIXED, "first_day": first, "last_day": last}
    return initial
