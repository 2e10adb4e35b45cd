"""Addresses of shared links and mailed reports: their pages, and those for people without an account."""

from django.urls import path

from onlooker.console.reports import link_pages, pdf_page, public_page, report_pages, unsubscription

_ALL = "organisations/<int:organisation_id>/links/"
_REPORTS = "organisations/<int:organisation_id>/reports/"

urlpatterns = [
    path("streams/<uuid:client_id>/dashboard/report.pdf", pdf_page.show_pdf, name="dashboard-pdf"),
    path("streams/<uuid:client_id>/links/new/", link_pages.create_stream_link, name="stream-link-new"),
    path(_ALL, link_pages.list_links, name="shared-links"),
    path(f"{_ALL}new/", link_pages.create_group_link, name="shared-link-new"),
    path(f"{_ALL}<int:link_id>/revoke/", link_pages.revoke_shared_link, name="shared-link-revoke"),
    path("shared/<slug:token>/", public_page.show_shared, name="shared"),
    path("streams/<uuid:client_id>/reports/new/", report_pages.create_stream_report, name="stream-report-new"),
    path(_REPORTS, report_pages.list_reports, name="mailed-reports"),
    path(f"{_REPORTS}new/", report_pages.create_group_report, name="mailed-report-new"),
    path(f"{_REPORTS}outside/", report_pages.allow_outside, name="mailed-reports-outside"),
    path(f"{_REPORTS}<int:report_id>/", report_pages.change_mailed_report, name="mailed-report"),
    path(f"{_REPORTS}<int:report_id>/remove/", report_pages.remove_report, name="mailed-report-remove"),
    path("unsubscribe/<str:token>/", unsubscription.show_unsubscription, name="unsubscribe"),
]
