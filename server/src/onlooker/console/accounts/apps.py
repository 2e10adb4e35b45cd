"""The Django app that owns the table of accounts."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "onlooker.console.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Connect to the sign-in signals of Django and django-allauth."""
        from allauth.account import signals as account_signals
        from allauth.mfa import signals as factor_signals
        from django.contrib.auth.signals import user_logged_in

        from onlooker.console.accounts import security_events
        from onlooker.console.accounts.second_factor import report_wrong_codes
        from onlooker.console.accounts.sessions import record_sign_in, renew_session_key

        user_logged_in.connect(record_sign_in)
        account_signals.authentication_step_completed.connect(renew_session_key)
        account_signals.password_changed.connect(security_events.note_password_changed)
        account_signals.password_set.connect(security_events.note_password_changed)
        account_signals.password_reset.connect(security_events.note_password_reset)
        account_signals.email_changed.connect(security_events.note_address_changed)
        factor_signals.authentication_failed.connect(report_wrong_codes)
        factor_signals.authenticator_added.connect(security_events.note_added)
        factor_signals.authenticator_removed.connect(security_events.note_removed)
        factor_signals.authenticator_reset.connect(security_events.note_reset)
        factor_signals.authenticator_used.connect(security_events.note_used)
