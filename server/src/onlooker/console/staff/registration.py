"""Which tables staff sees: those named here, and none that an installed app brought along."""

from django.contrib import admin

from onlooker.console.accounts.models import Account
from onlooker.console.members.models import Invitation
from onlooker.console.staff.accounts import AccountPages
from onlooker.console.staff.jobs import JobPages
from onlooker.console.staff.members import InvitationPages, MemberPages
from onlooker.console.staff.streams import StreamPages
from onlooker.console.staff.usage import UsagePages
from onlooker.gateway.models import Job
from onlooker.streams.models import Member, Stream, Usage

PAGES = {
    Account: AccountPages,
    Stream: StreamPages,
    Usage: UsagePages,
    Member: MemberPages,
    Invitation: InvitationPages,
    Job: JobPages,
}


def register_pages() -> None:
    for model in list(admin.site._registry):
        admin.site.unregister(model)  # second factors, sessions, groups: secrets, or of no use here
    for model, pages in PAGES.items():
        admin.site.register(model, pages)
