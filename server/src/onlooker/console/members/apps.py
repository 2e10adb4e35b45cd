"""The Django app that owns the tables of invitations."""

from django.apps import AppConfig


class MembersConfig(AppConfig):
    name = "onlooker.console.members"
    label = "members"
