"""The Django app that owns the tables of organisations' sign-in."""

from django.apps import AppConfig


class SignInConfig(AppConfig):
    name = "onlooker.console.sign_in"
    label = "sign_in"

    def ready(self) -> None:
        """Connect to Django's sign-in signal."""
        from django.contrib.auth.signals import user_logged_in

        from onlooker.console.sign_in.admission import note_provider_session

        user_logged_in.connect(note_provider_session)
