"""Addresses of comparisons."""

from django.urls import path

from onlooker.console.comparison.before_after import send_before_after, show_before_after
from onlooker.console.comparison.page import send_comparison, show_comparison
from onlooker.console.table_file import FileForm

urlpatterns = [
    path("", show_comparison, name="comparison"),
    path("comparison.csv", send_comparison, {"form": FileForm.CSV}, name="comparison-csv"),
    path("comparison.parquet", send_comparison, {"form": FileForm.PARQUET}, name="comparison-parquet"),
    path("before-after/", show_before_after, name="before-after"),
    path("before-after.csv", send_before_after, {"form": FileForm.CSV}, name="before-after-csv"),
    path("before-after.parquet", send_before_after, {"form": FileForm.PARQUET}, name="before-after-parquet"),
]
