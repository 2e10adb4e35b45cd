"""Addresses of the overview and of dashboards."""

from django.urls import path

from onlooker.console.breakdowns.page import show_breakdowns
from onlooker.console.dashboard.change_table import show_changes
from onlooker.console.dashboard.group_page import send_group, show_group
from onlooker.console.dashboard.group_table import send_changes, send_days, send_totals
from onlooker.console.dashboard.live import show_live
from onlooker.console.dashboard.overview import show_streams
from onlooker.console.dashboard.page import show_dashboard
from onlooker.console.dashboard.table import show_table
from onlooker.console.table_file import FileForm

CSV, PARQUET = {"form": FileForm.CSV}, {"form": FileForm.PARQUET}
urlpatterns = [
    path("", show_streams, name="streams"),
    path("numbers/", show_group, name="fleet-numbers"),
    path("numbers.json", send_group, name="fleet-numbers-json"),
    path("numbers/days.csv", send_days, CSV, name="fleet-days-csv"),
    path("numbers/days.parquet", send_days, PARQUET, name="fleet-days-parquet"),
    path("numbers/totals.csv", send_totals, CSV, name="fleet-totals-csv"),
    path("numbers/totals.parquet", send_totals, PARQUET, name="fleet-totals-parquet"),
    path("numbers/changes.csv", send_changes, CSV, name="fleet-changes-csv"),
    path("numbers/changes.parquet", send_changes, PARQUET, name="fleet-changes-parquet"),
    path("<uuid:client_id>/dashboard/", show_dashboard, name="dashboard"),
    path("<uuid:client_id>/dashboard/table.csv", show_table, CSV, name="dashboard-table"),
    path("<uuid:client_id>/dashboard/table.parquet", show_table, PARQUET, name="dashboard-parquet"),
    path("<uuid:client_id>/dashboard/changes.csv", show_changes, CSV, name="dashboard-changes"),
    path("<uuid:client_id>/dashboard/changes.parquet", show_changes, PARQUET, name="dashboard-changes-parquet"),
    path("<uuid:client_id>/dashboard/breakdowns/", show_breakdowns, name="dashboard-breakdowns"),
    path("<uuid:client_id>/dashboard/live/", show_live, name="dashboard-live"),
]
