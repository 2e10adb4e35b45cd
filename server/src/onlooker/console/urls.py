"""Every page of the console."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from onlooker.console import health
from onlooker.console.streams.authority import show_authority

handler429 = "onlooker.console.accounts.throttling.show_too_many"
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="streams"), name="home"),
    path("streams/", include("onlooker.console.streams.urls")),
    path("streams/", include("onlooker.console.dashboard.urls")),
    path("streams/", include("onlooker.console.trying.urls")),
    path("", include("onlooker.console.members.urls")),
    path("", include("onlooker.console.tokens.urls")),
    path("billing/", include("onlooker.console.billing.urls")),
    path("accounts/", include("onlooker.console.accounts.urls")),
    path("staff/", admin.site.urls),
    path("authority.pem", show_authority, name="authority"),
    path("livez", health.show_live, name="live"),
    path("readyz", health.show_ready, name="ready"),
]
