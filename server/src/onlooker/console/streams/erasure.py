"""The page on which an owner erases the visits of a range."""

import re
from datetime import UTC, datetime
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext, pgettext_lazy

from onlooker.audit.actor import account_actor
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.forms import PlainForm
from onlooker.console.languages.locale_text import translate, write_short_date
from onlooker.console.streams.access import managed_stream
from onlooker.metrics.erasure import ErasedVisits, count_range, erasable_range, erase_range
from onlooker.streams.models import Stream

_FORM = "%Y-%m-%dT%H:%M"
_LOCAL = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?", re.ASCII)


class MomentField(forms.DateTimeField):
    """A local time, to the minute. What it means is decided by the stream's time zone."""

    def __init__(self, **named: Any) -> None:
        widget = forms.DateTimeInput(format=_FORM, attrs={"type": "datetime-local", "step": "60"})
        super().__init__(widget=widget, **named)

    def to_python(self, value: Any) -> datetime | None:
        """As browsers send it, and nothing else: a time with an offset would be taken for another."""
        if value in self.empty_values:
            return None
        try:
            if _LOCAL.fullmatch(value):
                return datetime.fromisoformat(value)
        except ValueError:
            pass  # there is no such day or time
        raise forms.ValidationError(self.error_messages["invalid"], code="invalid")


class ErasureForm(PlainForm):
    """A range, and whether the owner has seen what goes with it."""

    from_at = MomentField(label=pgettext_lazy("beginning of a range", "From"))
    to_at = MomentField(label=pgettext_lazy("end of a range", "To"))
    confirmed = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, stream: Stream, data: Any = None) -> None:
        super().__init__(data)
        self._zone, self._grid = ZoneInfo(stream.time_zone), stream.grid
        for name in ("from_at", "to_at"):
            self.fields[name].help_text = _("In the stream's time zone, {time_zone}.").format(
                time_zone=stream.time_zone
            )

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        for name in ("from_at", "to_at"):
            if given.get(name):
                self._read_moment(given, name)
        if given.get("from_at") and given.get("to_at"):
            try:
                erased = erasable_range(given["from_at"], given["to_at"], grid=self._grid)
            except ValueError as error:
                self.add_error("to_at", translate(error))
            else:
                given["from_at"], given["to_at"] = erased
        return given

    def _read_moment(self, given: dict[str, Any], name: str) -> None:
        """An hour that the clock shows twice is erased whole."""
        choose = min if name == "from_at" else max
        try:
            moments = [given[name].replace(tzinfo=self._zone, fold=fold).astimezone(UTC) for fold in (0, 1)]
        except OverflowError:
            self.add_error(name, _("Enter a date between the years 1970 and 2100."))
        else:
            given[name] = choose(moments)

    @property
    def key(self) -> str:
        """The range that is confirmed: editing it afterwards asks again."""
        return f"{self.cleaned_data['from_at'].isoformat()} {self.cleaned_data['to_at'].isoformat()}"

    @property
    def is_confirmed(self) -> bool:
        return bool(self.cleaned_data["confirmed"] == self.key)


@signed_in("GET", "HEAD", "POST")
def show_erasure(request: PersonRequest, client_id: UUID) -> HttpResponse:
    """The first POST says what goes; only a second one, from that page, erases it."""
    stream = managed_stream(request.user, client_id)
    form = ErasureForm(stream, request.POST or None)
    context: dict[str, Any] = {"stream": stream, "form": form}
    if form.is_valid():
        begins, ends = form.cleaned_data["from_at"], form.cleaned_data["to_at"]
        if form.is_confirmed:
            erased = erase_range(stream.pk, begins, ends, actor=account_actor(request.user.pk))
            said = ngettext(
                "{count} visit erased. Visits of this range that arrive later are not stored.",
                "{count} visits erased. Visits of this range that arrive later are not stored.",
                erased.visits,
            )
            messages.success(request, said.format(count=erased.visits))
            return redirect("stream", client_id)
        counted = count_range(stream.pk, begins, ends)
        context |= {
            "counted": counted,
            "erased": describe_erasure(counted),
            "begins": _write_minute(begins, stream),
            "ends": _write_minute(ends, stream),
        }
    return render(request, "streams/erase.html", context)


def describe_erasure(counted: ErasedVisits) -> str:
    """What goes, as a list in one sentence."""
    visits = ngettext("{count} visit", "{count} visits", counted.visits).format(count=counted.visits)
    parts = [visits]
    if counted.slots:
        text = ngettext(
            "all totals of {count} quarter of an hour whose visits were deleted before",
            "all totals of {count} quarters of an hour whose visits were deleted before",
            counted.slots,
        )
        parts.append(text.format(count=counted.slots))
    if counted.put_aside:
        text = ngettext(
            "{count} visit that could not be stored", "{count} visits that could not be stored", counted.put_aside
        )
        parts.append(text.format(count=counted.put_aside))
    # Translators: {what} is a list, such as: 5 visits, and 2 visits that could not be stored
    return _("This erases {what}.").format(what=pgettext("list of long parts", ", and ").join(parts))


def _write_minute(at: datetime, stream: Stream) -> str:
    """On the stream's clock."""
    local = at.astimezone(ZoneInfo(stream.time_zone))
    return f"{write_short_date(local)}, {local:%H:%M}"
