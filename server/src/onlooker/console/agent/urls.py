"""Where devices find what they install; app.py serves the files themselves."""

from django.urls import path

from onlooker.console.agent import views

urlpatterns = [
    path("install.sh", views.show_script, name="agent-script"),
    path("requirements.txt", views.show_requirements, name="agent-requirements"),
    path("simple/", views.list_projects, name="agent-index"),
    path("simple/<slug:project>/", views.list_files, name="agent-project"),
]
