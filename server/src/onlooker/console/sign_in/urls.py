"""URLs of organisations' sign-in."""

from django.urls import path

from onlooker.console.sign_in import settings_views, views

urlpatterns = [
    path("sign-in/<slug:address>/", views.show_sign_in, name="sign-in"),
    path("sign-in/<slug:address>/return/", views.take_answer, name="sign-in-return"),
    path(
        "organisations/<int:organisation_id>/sign-in/",
        settings_views.show_sign_in_settings,
        name="organisation-sign-in",
    ),
    path("accounts/2fa/required/", views.show_requirement, name="second-factor-required"),
    path("accounts/closed/", views.show_closed, name="sign-in-closed"),
]
