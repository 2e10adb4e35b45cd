"""Where devices find what they install; app.py serves the files themselves."""

from django.urls import path

from onlooker.console.agent import views
from onlooker.console.agent.wheels import COMPUTING, SENDING

SENDS, COMPUTES = {"installation": SENDING}, {"installation": COMPUTING}

urlpatterns = [
    path("install.sh", views.show_script, SENDS, name="agent-script"),
    path("requirements.txt", views.show_requirements, SENDS, name="agent-requirements"),
    path("install-device.sh", views.show_script, COMPUTES, name="agent-device-script"),
    path("requirements-device.txt", views.show_requirements, COMPUTES, name="agent-device-requirements"),
    path("simple/", views.list_projects, name="agent-index"),
    path("simple/<slug:project>/", views.list_files, name="agent-project"),
]
