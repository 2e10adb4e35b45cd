"""django-allauth's adapter: who may sign up, rate limits, and what mails say and link to."""

import logging
import re
from typing import Any
from urllib.parse import quote, urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from allauth.core import context as current
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage, EmailMultiAlternatives
from django.http import HttpRequest
from django.shortcuts import render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.html import format_html, format_html_join, linebreaks
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.console.accounts.models import Account
from onlooker.console.accounts.passwords import LONGEST_PASSWORD
from onlooker.console.accounts.rate_limit import (
    client_address,
    return_mail_allowance,
    show_rate_limited,
    take_mail_allowance,
)
from onlooker.console.languages.choice import language_of
from onlooker.console.web.mail import deliver_mail, is_mail_on
from onlooker.logs import fields

log = logging.getLogger(__name__)

LONGEST_DOMAIN = 253
_THROTTLED = {"too_many_login_attempts", "rate_limited"}


def console_link(path: str) -> str:
    """Built from the settings, never from the Host header."""
    return f"{settings.ONLOOKER.console_url}{path}"


def link_console_urls(text: str) -> SafeString:
    """As HTML. Only URLs of the console become links, since others can influence the rest of the text."""
    pieces = re.split(rf"({re.escape(settings.ONLOOKER.console_url)}/\S*)", text)
    linked = (format_html('<a href="{0}">{0}</a>', piece) if at % 2 else piece for at, piece in enumerate(pieces))
    return format_html_join("", "{}", ((piece,) for piece in linked))


def is_signup_open() -> bool:
    """Addresses must be verified, so without e-mail nobody can sign up."""
    return settings.ONLOOKER.signup == "open" and is_mail_on()


def _language_to_notify(account: Account) -> str:
    """The account's own; else that of the page, unless somebody else may be reading it."""
    reader = getattr(current.request, "user", None)
    is_own_page = getattr(reader, "email", None) == account.email
    return account.language or (is_own_page and translation.get_language()) or settings.LANGUAGE_CODE


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Onlooker's rules for sign-up, sign-in and mails."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "email_password_mismatch": _lazy(
            "The e-mail address or the password is wrong. Check both, or reset your password."
        ),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return is_signup_open()

    def new_user(self, request: HttpRequest) -> Account:
        """Somebody who signs up in another language than English goes on in it, in mails too."""
        account: Account = super().new_user(request)
        chosen = translation.get_language()
        account.language = chosen if chosen and chosen != settings.LANGUAGE_CODE else ""
        return account

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """Too many attempts get status 429 instead of a form."""
        if code in _THROTTLED:
            raise ImmediateHttpResponse(show_rate_limited(current.request))
        error: ValidationError = super().validation_error(code, *args)
        return error

    def clean_email(self, email: str) -> str:
        """Also checks that its domain is one that mail servers accept."""
        cleaned = str(super().clean_email(email))
        try:
            is_deliverable = len(cleaned.rpartition("@")[2].encode("idna")) <= LONGEST_DOMAIN
        except UnicodeError:
            is_deliverable = False
        if not is_deliverable:
            raise ValidationError(_("This address can't receive e-mail. Check the part after the @."))
        return cleaned

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        super().pre_authenticate(request, **credentials)
        if len(credentials.get("password") or "") > LONGEST_PASSWORD:
            raise self.validation_error("email_password_mismatch")

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Counted by account and network address, so that a guesser does not lock out the owner."""
        return f"{credentials.get('email', '').lower()} {client_address(request)}"

    def confirm_email(self, request: HttpRequest, email_address: EmailAddress) -> bool:
        """Accounts created on the command line own their address even if it was never verified."""
        others = Account.objects.filter(email=email_address.email.lower()).exclude(pk=email_address.user_id)
        if others.exists():
            template = "account/messages/email_confirmation_failed.txt"
            self.add_message(request, messages.ERROR, template, {"email": email_address.email})
            return False
        return bool(super().confirm_email(request, email_address))

    def get_reauthentication_methods(self, user: AbstractBaseUser) -> list[dict[str, Any]]:
        names = {"mfa_reauthenticate": _("Use a code"), "mfa_reauthenticate:webauthn": _("Use a passkey")}
        methods: list[dict[str, Any]] = super().get_reauthentication_methods(user)
        return [one | {"description": names.get(one["id"], one["description"])} for one in methods]

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("account")

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: Any) -> str:
        return console_link(reverse("account_confirm_email", args=[emailconfirmation.key]))

    def get_reset_password_from_key_url(self, key: str) -> str:
        path = reverse("account_reset_password_from_key", kwargs={"uidb36": "UID", "key": "KEY"})
        return console_link(path.replace("UID-KEY", quote(key)))

    def send_account_already_exists_mail(self, email: str) -> None:
        reset_url = console_link(reverse("account_reset_password"))
        self.send_mail("account/email/account_already_exists", email, {"password_reset_url": reset_url})

    def send_notification_mail(
        self,
        template_prefix: str,
        user: Account,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """A mail server that is down does not undo what the mail reports."""
        shared = {"is_notification": True, "language": _language_to_notify(user)}
        try:
            super().send_notification_mail(template_prefix, user, shared | (context or {}), email=email)
        except OSError as error:
            log.warning("mail not sent", extra=fields(mail=template_prefix, error=type(error).__name__))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Mails over the limit are not sent, but the page looks the same."""
        request = current.request
        if context.get("is_notification"):
            self._deliver(template_prefix, email, context)
            return
        if not take_mail_allowance(request, email):
            log.warning("mail over the limit", extra=fields(mail=template_prefix))
            return
        try:
            self._deliver(template_prefix, email, context)
        except OSError as error:
            log.warning("mail not sent", extra=fields(mail=template_prefix, error=type(error).__name__))
            return_mail_allowance(request, email)
            raise ImmediateHttpResponse(render(request, "accounts/mail_trouble.html", status=503)) from None

    def _deliver(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        shared = {
            "email": email,
            "console_url": settings.ONLOOKER.console_url,
            "console_host": urlsplit(settings.ONLOOKER.console_url).netloc,
            "is_signup_open": is_signup_open(),
        }
        ours = {"signup_url": console_link(reverse("account_signup"))}
        language = context.get("language") or language_of(email, otherwise=translation.get_language() or "")
        with translation.override(language):
            mail = self.render_mail(template_prefix, email, shared | context | ours)
        deliver_mail(mail, kind=template_prefix.rpartition("/")[2])

    def render_mail(
        self,
        template_prefix: str,
        email: str | list[str],
        context: dict[str, Any],
        headers: dict[str, str] | None = None,
    ) -> EmailMessage:
        """As text and as HTML, so that links work everywhere."""
        mail: EmailMessage = super().render_mail(template_prefix, email, context, headers=headers)
        if isinstance(mail, EmailMultiAlternatives):
            content = SafeString(linebreaks(link_console_urls(str(mail.body))))
            html = render_to_string("mail.html", {"subject": mail.subject, "content": content})
            mail.attach_alternative(html, "text/html")
        return mail
