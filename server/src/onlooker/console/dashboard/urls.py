"""Addresses of the overview and of dashboards."""

from django.urls import path

from onlooker.console.breakdowns.page import show_breakdowns
from onlooker.console.dashboard.change_table import show_changes
from onlooker.console.dashboard.group_page import send_group, show_group
from onlooker.console.dashboard.live import show_live
from onlooker.console.dashboard.overview import show_streams
from onlooker.console.dashboard.page import show_dashboard
from onlooker.console.dashboard.table import show_parquet, show_table

urlpatterns = [
    path("", show_streams, name="streams"),
    path("numbers/", show_group, name="fleet-numbers"),
    path("numbers.json", send_group, name="fleet-numbers-json"),
    path("<uuid:client_id>/dashboard/", show_dashboard, name="dashboard"),
    path("<uuid:client_id>/dashboard/table.csv", show_table, name="dashboard-table"),
    path("<uuid:client_id>/dashboard/table.parquet", show_parquet, name="dashboard-parquet"),
    path("<uuid:client_id>/dashboard/changes.csv", show_changes, name="dashboard-changes"),
    path("<uuid:client_id>/dashboard/breakdowns/", show_breakdowns, name="dashboard-breakdowns"),
    path("<uuid:client_id>/dashboard/live/", show_live, name="dashboard-live"),
]
