"""How every form is written: label, help, errors and field, tied to one another."""

from typing import Any

from django import forms
from django.forms.renderers import DjangoTemplates


class FormRenderer(DjangoTemplates):
    field_template_name = "forms/field.html"


class PlainForm(forms.Form):
    """Labels without a colon."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named | {"label_suffix": ""})
