"""Where the documentation is if it was not built; app.py serves it."""

from django.urls import path

from onlooker.console.documentation.static_site import show_missing_site

urlpatterns = [
    path("", show_missing_site, name="documentation"),
    path("<path:page>", show_missing_site, name="documentation-page"),
]
