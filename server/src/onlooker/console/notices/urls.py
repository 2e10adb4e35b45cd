"""Addresses of a stream's documents; the public page is in web/urls.py."""

from django.urls import path

from onlooker.console.notices import views

urlpatterns = [
    path("<uuid:client_id>/notices/", views.show_notices, name="notices"),
    path("<uuid:client_id>/notices/details/", views.edit_details, name="notices-details"),
    path("<uuid:client_id>/notices/public/", views.switch_page, name="notices-public"),
    path("<uuid:client_id>/notices/sign/", views.show_sign, name="notices-sign"),
    path("<uuid:client_id>/notices/record/", views.show_record, name="notices-record"),
    path("<uuid:client_id>/notices/assessment/", views.show_assessment, name="notices-assessment"),
    path("<uuid:client_id>/notices/models/", views.show_models, name="notices-models"),
]
