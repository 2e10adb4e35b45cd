"""How every form's fields are written: label, help, errors and field, tied to one another."""

from django.forms.renderers import DjangoTemplates


class FormRenderer(DjangoTemplates):
    field_template_name = "forms/field.html"
