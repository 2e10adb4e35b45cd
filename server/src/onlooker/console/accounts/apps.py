"""The Django app that owns the table of accounts."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "onlooker.console.accounts"
    label = "accounts"

    def ready(self) -> None:
        """Listen to what django and django-allauth tell of people who sign in."""
        from allauth.account.signals import authentication_step_completed
        from allauth.mfa.signals import authentication_failed
        from django.contrib.auth.signals import user_logged_in

        from onlooker.console.accounts.second_factor import tell_of_wrong_codes
        from onlooker.console.accounts.sessions import note_start, renew_key

        user_logged_in.connect(note_start)
        authentication_step_completed.connect(renew_key)
        authentication_failed.connect(tell_of_wrong_codes)
