"""URLs of viewers and invitations."""

from django.urls import path

from onlooker.console.members import views

_MEMBERS = "streams/<uuid:client_id>/members/"

urlpatterns = [
    path(_MEMBERS, views.show_members, name="members"),
    path(f"{_MEMBERS}invite/", views.invite_member, name="member-invite"),
    path(f"{_MEMBERS}leave/", views.leave_stream, name="member-leave"),
    path(f"{_MEMBERS}<int:member_id>/revoke/", views.revoke_member, name="member-revoke"),
    path(f"{_MEMBERS}invitations/<uuid:invitation_id>/revoke/", views.revoke_invitation, name="invitation-revoke"),
    path("invitations/<uuid:invitation_id>/", views.show_invitation, name="invitation"),
]
