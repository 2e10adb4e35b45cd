"""Pages about who may see a stream."""

from django.urls import path

from onlooker.console.members import answering, pages

_MEMBERS = "streams/<uuid:client_id>/members/"

urlpatterns = [
    path(_MEMBERS, pages.show_members, name="members"),
    path(f"{_MEMBERS}invite/", pages.invite_member, name="member-invite"),
    path(f"{_MEMBERS}leave/", pages.leave_stream, name="member-leave"),
    path(f"{_MEMBERS}<int:member_id>/revoke/", pages.revoke_member, name="member-revoke"),
    path(f"{_MEMBERS}invitations/<uuid:invitation_id>/revoke/", pages.revoke_invitation, name="invitation-revoke"),
    path("invitations/<uuid:invitation_id>/", answering.show_invitation, name="invitation"),
]
