"""Addresses of comparisons."""

from django.urls import path

from onlooker.console.comparison.before_after import send_before_after, show_before_after
from onlooker.console.comparison.page import send_comparison, show_comparison

urlpatterns = [
    path("", show_comparison, name="comparison"),
    path("comparison.csv", send_comparison, name="comparison-csv"),
    path("before-after/", show_before_after, name="before-after"),
    path("before-after.csv", send_before_after, name="before-after-csv"),
]
