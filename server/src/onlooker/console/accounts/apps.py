"""The Django app that owns the table of accounts."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "onlooker.console.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Connect to the sign-in signals of Django and django-allauth."""
        from allauth.account.signals import authentication_step_completed
        from allauth.mfa.signals import authentication_failed
        from django.contrib.auth.signals import user_logged_in

        from onlooker.console.accounts.second_factor import report_wrong_codes
        from onlooker.console.accounts.sessions import record_sign_in, renew_session_key

        user_logged_in.connect(record_sign_in)
        authentication_step_completed.connect(renew_session_key)
        authentication_failed.connect(report_wrong_codes)
