"""The form on which an owner enters what documents need and the product can't know."""

from typing import Any

from django import forms

from onlooker.console.forms import PlainForm
from onlooker.console.notices.facts import ControllerFacts
from onlooker.console.notices.models import LONGEST_ADDRESS, LONGEST_LINE, LONGEST_PURPOSE, LegalBasis

_PURPOSE = "For example: to find out how many people notice our display, and at what times."


class LineField(forms.CharField):
    """One line, which may be left empty."""

    def __init__(self, longest: int = LONGEST_LINE, **options: Any) -> None:
        super().__init__(max_length=longest, required=False, **options)


class DetailsForm(PlainForm):
    """All of it may be left empty: documents then have blanks."""

    controller = LineField(label="Controller", help_text="The person or company that decides why people are counted.")
    address = LineField(LONGEST_ADDRESS, label="Address")
    contact = LineField(label="Contact", help_text="An e-mail address or a telephone number for questions.")
    officer = LineField(label="Data protection officer", help_text="How to reach the officer, if there is one.")
    purpose_en = LineField(LONGEST_PURPOSE, label="Purpose, in English", help_text=_PURPOSE)
    purpose_fr = LineField(LONGEST_PURPOSE, label="Purpose, in French", help_text="For notices in French.")
    purpose_de = LineField(LONGEST_PURPOSE, label="Purpose, in German", help_text="For notices in German.")
    legal_basis = forms.ChoiceField(
        choices=LegalBasis.choices, required=False, label="Legal basis", help_text="Of article 6(1) GDPR."
    )
    recipients = LineField(
        LONGEST_ADDRESS, label="Recipients", help_text="Who else gets numbers, such as an agency or a hosting company."
    )
    place = LineField(label="Place", help_text="Where the camera is, in words for visitors. Shown to everyone.")

    def __init__(self, entered: ControllerFacts, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(entered, name) for name in self.base_fields})
