"""The form on which an owner enters what documents need and the product can't know."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from onlooker.console.forms import PlainForm
from onlooker.console.notices.facts import ControllerFacts
from onlooker.console.notices.models import LONGEST_ADDRESS, LONGEST_LINE, LONGEST_PURPOSE, LegalBasis

_PURPOSE = _("For example: to find out how many people notice our display, and at what times.")


class LineField(forms.CharField):
    """One line, which may be left empty."""

    def __init__(self, longest: int = LONGEST_LINE, **options: Any) -> None:
        super().__init__(max_length=longest, required=False, **options)


class DetailsForm(PlainForm):
    """All of it may be left empty: documents then have blanks."""

    controller = LineField(
        label=_("Controller"), help_text=_("The person or company that decides why people are counted.")
    )
    address = LineField(LONGEST_ADDRESS, label=_("Address"))
    contact = LineField(label=_("Contact"), help_text=_("An e-mail address or a telephone number for questions."))
    officer = LineField(label=_("Data protection officer"), help_text=_("How to reach the officer, if there is one."))
    purpose_en = LineField(LONGEST_PURPOSE, label=_("Purpose (in English)"), help_text=_PURPOSE)
    purpose_fr = LineField(LONGEST_PURPOSE, label=_("Purpose (in French)"), help_text=_("For notices in French."))
    purpose_de = LineField(LONGEST_PURPOSE, label=_("Purpose (in German)"), help_text=_("For notices in German."))
    purpose_es = LineField(LONGEST_PURPOSE, label=_("Purpose (in Spanish)"), help_text=_("For notices in Spanish."))
    legal_basis = forms.ChoiceField(
        choices=LegalBasis.choices, required=False, label=_("Legal basis"), help_text=_("Of article 6(1) GDPR.")
    )
    recipients = LineField(
        LONGEST_ADDRESS,
        label=_("Recipients"),
        help_text=_("Who else gets numbers, such as an agency or a hosting company."),
    )
    place = LineField(label=_("Place"), help_text=_("Where the camera is, in words for visitors. Shown to everyone."))

    def __init__(self, entered: ControllerFacts, data: Any = None) -> None:
        super().__init__(data, initial={name: getattr(entered, name) for name in self.base_fields})
