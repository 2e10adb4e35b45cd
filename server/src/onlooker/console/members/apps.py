"""The Django app that owns the table of invitations."""

from django.apps import AppConfig


class MembersConfig(AppConfig):
    name = "onlooker.console.members"
    label = "members"
