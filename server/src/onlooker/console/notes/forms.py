"""The form of a note."""

import re
from datetime import date
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from onlooker.console.forms import PlainForm
from onlooker.console.languages.locale_text import translate
from onlooker.streams.models import LONGEST_NOTE, Note, Organisation, Site, Stream
from onlooker.streams.notes import EARLIEST_DAY, LATEST_DAY, check_days, check_text

_PERSONAL = _lazy("Anyone who sees these streams can read it: write no names of people.")


_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


class DayInput(forms.DateInput):
    """The browser's own calendar."""

    input_type = "date"

    def __init__(self) -> None:
        super().__init__(format="%Y-%m-%d", attrs={"min": EARLIEST_DAY.isoformat(), "max": LATEST_DAY.isoformat()})


class NoteDayField(forms.DateField):
    """Days as the browser's calendar sends them, like everywhere else: `2026-01-05`, not `2026-1-5`."""

    widget = DayInput

    def to_python(self, value: Any) -> date | None:
        if isinstance(value, str) and value.strip() and not _DAY.fullmatch(value.strip()):
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


def _day_field(**options: Any) -> NoteDayField:
    return NoteDayField(input_formats=["%Y-%m-%d"], **options)


class NoteForm(PlainForm):
    """Days, a text and, for a new one, what it is about."""

    first_day = _day_field(label=_lazy("Day"))
    last_day = _day_field(label=_lazy("Last day, if there are several"), required=False)
    text = forms.CharField(label=_lazy("Note"), max_length=LONGEST_NOTE, help_text=_PERSONAL)

    def __init__(self, data: Any = None, *, note: Note | None = None, today: date | None = None) -> None:
        initial: dict[str, Any] = {"first_day": today}
        if note:
            last = note.last_day if note.last_day != note.first_day else None
            initial = {"first_day": note.first_day, "last_day": last, "text": note.text}
        super().__init__(data, initial=initial, auto_id="note-%s")
        self.fields["text"].widget.attrs["autocomplete"] = "off"

    def clean_text(self) -> str:
        try:
            return check_text(self.cleaned_data["text"])
        except ValueError as error:
            raise forms.ValidationError(translate(error)) from None

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if "first_day" in given and "last_day" in given:
            given["last_day"] = given["last_day"] or given["first_day"]
            try:
                check_days(given["first_day"], given["last_day"])
            except ValueError as error:
                self.add_error("last_day", translate(error))
        return given


class NewNoteForm(NoteForm):
    """A note that does not exist yet: also what it is about, the nearest first."""

    about = forms.ChoiceField(label=pgettext_lazy("which streams", "For"), required=False)

    def __init__(self, organisation: Organisation, *nearer: Site | Stream | None, **options: Any) -> None:
        super().__init__(**options)
        self._offered: dict[str, Site | Stream | None] = {
            "stream" if isinstance(one, Stream) else "site": one for one in nearer if one
        }
        self._offered["organisation"] = None
        names = {
            "stream": _("This stream"),
            "site": "".join(_all_streams_of(one) for one in nearer if isinstance(one, Site)),
            "organisation": _all_streams_of(organisation),
        }
        choice = self.fields["about"]
        assert isinstance(choice, forms.ChoiceField)
        choice.choices = [(key, names[key]) for key in self._offered]

    @property
    def about_what(self) -> Site | Stream | None:
        """None: the whole organisation."""
        return self._offered[self.cleaned_data["about"] or next(iter(self._offered))]


def _all_streams_of(whole: Site | Organisation) -> str:
    return _("All streams of {name}").format(name=whole.name)
