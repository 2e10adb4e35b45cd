"""The Django app that owns the tables of the audit log."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    name = "onlooker.audit"
    label = "audit"
