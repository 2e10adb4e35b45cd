"""Addresses of the overview and of dashboards."""

from django.urls import path

from onlooker.console.dashboard.change_table import show_changes
from onlooker.console.dashboard.live import show_live
from onlooker.console.dashboard.overview import show_streams
from onlooker.console.dashboard.page import show_dashboard
from onlooker.console.dashboard.table import show_table

urlpatterns = [
    path("", show_streams, name="streams"),
    path("<uuid:client_id>/dashboard/", show_dashboard, name="dashboard"),
    path("<uuid:client_id>/dashboard/table.csv", show_table, name="dashboard-table"),
    path("<uuid:client_id>/dashboard/changes.csv", show_changes, name="dashboard-changes"),
    path("<uuid:client_id>/dashboard/live/", show_live, name="dashboard-live"),
]
