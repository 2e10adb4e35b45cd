"""URLs of invitations."""

from django.urls import path

from onlooker.console.members import views

_ORGANISATION = "organisations/<int:organisation_id>/"

urlpatterns = [
    path(f"{_ORGANISATION}invite/", views.invite_members, name="member-invite"),
    path(f"{_ORGANISATION}invitations/<uuid:invitation_id>/revoke/", views.revoke_invitation, name="invitation-revoke"),
    path("invitations/<uuid:invitation_id>/", views.show_invitation, name="invitation"),
]
