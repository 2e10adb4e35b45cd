"""Whom to invite."""

from django import forms

LONGEST_ADDRESS = 254


class InvitationForm(forms.Form):
    """An e-mail address, in lower case."""

    email = forms.EmailField(
        label="E-mail address",
        max_length=LONGEST_ADDRESS,
        widget=forms.EmailInput(attrs={"autocomplete": "off", "placeholder": "name@example.org"}),
    )

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).lower()
        if len(email) > LONGEST_ADDRESS:  # some letters are two in lower case
            raise forms.ValidationError("This address is too long.")
        return email
