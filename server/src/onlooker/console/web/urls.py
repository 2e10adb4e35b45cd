"""Every page of the console."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from onlooker.console.languages.script_words import show_words
from onlooker.console.notices.public_page import show_public_page
from onlooker.console.streams.connection import show_authority
from onlooker.console.web import health

handler429 = "onlooker.console.accounts.rate_limit.show_rate_limited"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="streams"), name="home"),
    path("streams/", include("onlooker.console.dashboard.urls")),
    path("streams/compare/", include("onlooker.console.comparison.urls")),
    path("streams/", include("onlooker.console.streams.urls")),
    path("streams/", include("onlooker.console.checks.urls")),
    path("streams/", include("onlooker.console.notices.urls")),
    path("notice/<slug:key>/", show_public_page, name="notice"),
    path("", include("onlooker.console.reports.urls")),
    path("organisations/", include("onlooker.console.organisations.urls")),
    path("organisations/", include("onlooker.console.webhooks.urls")),
    path("", include("onlooker.console.notes.urls")),
    path("", include("onlooker.console.members.urls")),
    path("", include("onlooker.console.tokens.urls")),
    path("devices/", include("onlooker.console.devices.urls")),
    path("api/v1/", include("onlooker.console.api.urls")),
    path("billing/", include("onlooker.console.billing.urls")),
    path("", include("onlooker.console.sign_in.urls")),
    path("accounts/", include("onlooker.console.accounts.urls")),
    path("staff/", admin.site.urls),
    path("agent/", include("onlooker.console.agent.urls")),
    path("docs/", include("onlooker.console.documentation.urls")),
    path("words/<slug:language>.js", show_words, name="words"),
    path("authority.pem", show_authority, name="authority"),
    path("livez", health.show_live, name="live"),
    path("readyz", health.show_ready, name="ready"),
]
