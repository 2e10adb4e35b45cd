"""Accounts for staff: find, disable, and create where sign-up is closed."""

from typing import Any, cast

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from onlooker.audit.actor import acting_as, staff_actor
from onlooker.console.accounts.models import Account
from onlooker.console.staff.model_admin import StaffModelAdmin
from onlooker.console.streams.access import visible_streams
from onlooker.console.streams.lifecycle import log_stream_states

ABOUT = ("email", "created_at", "last_login", "addresses", "has_second_factor", "stream_count")


class NewAccountForm(forms.ModelForm):  # type: ignore[type-arg]
    """Only an address; its owner sets the password."""

    class Meta:
        model = Account
        fields = ("email",)

    def clean_email(self) -> str:
        email = str(self.cleaned_data["email"]).lower()
        if Account.objects.filter(email=email).exists():
            raise forms.ValidationError(_("An account with this address already exists."))
        return email


class AccountAdmin(StaffModelAdmin):
    list_display = ("email", "is_active", "is_staff", "created_at", "last_login")
    list_filter = ("is_active", "is_staff")
    search_fields = ("email",)
    search_help_text = gettext_lazy("Beginning of an e-mail address.")
    ordering = ("-id",)
    readonly_fields = (*ABOUT, "is_staff", "is_superuser")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Account | None = None) -> bool:
        """Nobody can lock themselves out, and only superusers change superusers."""
        if obj is None:
            return self.has_view_permission(request)
        changes_itself = obj == request.user
        return self.has_view_permission(request) and not changes_itself and (_is_super(request) or not obj.is_superuser)

    def get_fields(self, request: HttpRequest, obj: Account | None = None) -> tuple[str, ...]:
        return (*ABOUT, "is_active", "is_staff", "is_superuser") if obj else ("email",)

    def get_readonly_fields(self, request: HttpRequest, obj: Account | None = None) -> tuple[str, ...]:
        if obj is None:
            return ()
        return ABOUT if _is_super(request) else (*ABOUT, "is_staff", "is_superuser")

    def get_form(self, request: HttpRequest, obj: Account | None = None, change: bool = False, **values: Any) -> Any:
        if obj is None:
            values["form"] = NewAccountForm
        return super().get_form(request, obj, change, **values)

    def about(self, obj: Account) -> str:
        return _(
            "While an account is inactive, nobody can sign in with it. Streams refuse all frames while no owner of "
            "their organisation is active."
        )

    def find(self, rows: QuerySet[Account], term: str) -> QuerySet[Account]:
        return rows.filter(email__startswith=term.lower())

    def save_model(self, request: HttpRequest, obj: Account, form: Any, change: bool) -> None:
        if change:
            with acting_as(staff_actor(cast(Account, request.user).pk)):
                _save_changes(obj, [name for name in form.changed_data if name in form.fields])
            return
        obj.set_unusable_password()
        super().save_model(request, obj, form, change)
        EmailAddress.objects.create(user=obj, email=obj.email, primary=True)
        told = _("{email} can now set a password with 'Forgot your password?' on the sign-in page.")
        messages.info(request, told.format(email=obj.email))

    @admin.display(description=gettext_lazy("addresses"))
    def addresses(self, account: Account) -> str:
        found = EmailAddress.objects.filter(user=account).order_by("-primary", "email")
        return ", ".join(_describe_address(one) for one in found) or "-"

    @admin.display(description=gettext_lazy("second factor"), boolean=True)
    def has_second_factor(self, account: Account) -> bool:
        return bool(Authenticator.objects.filter(user=account).exists())

    @admin.display(description=gettext_lazy("streams"))
    def stream_count(self, account: Account) -> int:
        return visible_streams(account).count()


def _describe_address(address: EmailAddress) -> str:
    said = _("{email} (verified)") if address.verified else _("{email} (not verified)")
    return said.format(email=address.email)


@transaction.atomic
def _save_changes(account: Account, names: list[str]) -> None:
    """Only these fields: the password may have changed since this row was read."""
    if names:
        account.save(update_fields=names)
    if "is_active" in names:
        log_stream_states(account)


def _is_super(request: HttpRequest) -> bool:
    return bool(getattr(request.user, "is_superuser", False))
