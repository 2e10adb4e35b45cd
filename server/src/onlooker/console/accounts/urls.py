"""URLs of a person's own account; most pages are django-allauth's. Those of providers are in `sign_in`."""

from allauth.account.decorators import reauthentication_required
from allauth.account.views import email, password_reset
from allauth.mfa.webauthn.views import login_webauthn
from allauth.usersessions.views import list_usersessions
from django.urls import include, path

from onlooker.console.accounts import views

urlpatterns = [
    path("", views.show_account, name="account"),
    path("language/", views.change_language, name="account-language"),
    path("delete/", views.delete_account, name="account-delete"),
    path("sessions/", reauthentication_required(list_usersessions, allow_get=True), name="usersessions_list"),
    path("sessions/<int:number>/end/", views.end_session, name="session-end"),
    path("events/", views.show_events, name="account-events"),
    path("email/", views.require_mail(email), name="account_email"),
    path("password/reset/", views.require_mail(password_reset), name="account_reset_password"),
    path("", include("allauth.account.urls")),
    path("2fa/webauthn/login/", views.limit_passkey_requests(login_webauthn), name="mfa_login_webauthn"),
    path("2fa/", include("allauth.mfa.urls")),
]
