"""The table of operations: what routes, decodes, admits and documents the management interface."""

from typing import Any

from onlooker.console.api.fields import SearchQuery
from onlooker.console.api.operation import Handler, Operation, Reach
from onlooker.console.api.pages import Page, PageQuery
from onlooker.console.api.resources import (
    device_configuration,
    devices,
    enrolment,
    keys,
    members,
    notes,
    numbers,
    organisation,
    sites,
    stream_changes,
    streams,
    webhooks,
)
from onlooker.keys.models import Scope
from onlooker.streams.models import MemberRole

_MANAGE = frozenset({Scope.MANAGE})
_ENROL = frozenset({Scope.MANAGE, Scope.ENROL})
_READ_STREAMS = frozenset({Scope.MANAGE, Scope.NUMBERS})
_READ_SITES = frozenset({Scope.MANAGE, Scope.ENROL, Scope.NUMBERS})
_NUMBERS = frozenset({Scope.NUMBERS})
_ANY = frozenset(Scope)
_WHOLE = Reach.ALL


def _get(path: str, summary: str, handler: Handler, answer: Any, **more: Any) -> Operation:
    return Operation("GET", path, summary, handler, answer=answer, **({"scopes": _MANAGE} | more))


def _post(path: str, summary: str, handler: Handler, answer: Any, **more: Any) -> Operation:
    return Operation("POST", path, summary, handler, answer=answer, **({"scopes": _MANAGE} | more))


def _patch(path: str, summary: str, handler: Handler, answer: Any, **more: Any) -> Operation:
    return Operation("PATCH", path, summary, handler, answer=answer, **({"scopes": _MANAGE} | more))


def _delete(path: str, summary: str, handler: Handler, **more: Any) -> Operation:
    return Operation("DELETE", path, summary, handler, status=204, **({"scopes": _MANAGE} | more))


_ORGANISATION = (
    _get(
        "organisation",
        "The organisation of the key",
        organisation.read_organisation,
        organisation.OrganisationBody,
        reach=_WHOLE,
    ),
    _patch(
        "organisation",
        "Change the organisation; owners alone",
        organisation.change_organisation,
        organisation.OrganisationBody,
        body=organisation.OrganisationChange,
        reach=_WHOLE,
        role=MemberRole.OWNER,
    ),
    _get(
        "addresses",
        "Where gateway, data endpoint and console are",
        organisation.read_addresses,
        organisation.AddressesBody,
        scopes=_ANY,
    ),
    _get(
        "tags",
        "Tags of streams",
        organisation.list_tags,
        Page[organisation.TagBody],
        query=PageQuery,
        scopes=_READ_STREAMS,
    ),
)
_STREAMS = (
    _get(
        "streams",
        "List streams",
        streams.list_streams,
        Page[streams.StreamBody],
        query=streams.StreamQuery,
        scopes=_READ_STREAMS,
    ),
    _post(
        "streams",
        "Create a stream",
        streams.create_a_stream,
        streams.CreatedStreamBody,
        body=streams.NewStreamBody,
        status=201,
    ),
    _post(
        "streams/bulk",
        "Change many streams, or preview that",
        stream_changes.change_streams,
        stream_changes.BulkAnswer,
        body=stream_changes.BulkRequest,
        is_atomic=False,
    ),
    _get(
        "streams/<uuid:client_id>",
        "Read a stream",
        streams.read_stream,
        streams.StreamBody,
        scopes=_READ_STREAMS,
    ),
    _patch(
        "streams/<uuid:client_id>",
        "Change a stream",
        streams.change_stream,
        streams.StreamBody,
        body=streams.StreamChange,
    ),
    _delete("streams/<uuid:client_id>", "Remove a stream with all its data", streams.remove_a_stream),
    _post(
        "streams/<uuid:client_id>/access-token",
        "Rotate the Password of a stream",
        streams.rotate_password,
        streams.NewPasswordBody,
        body=streams.RotationBody,
    ),
)
_SITES = (
    _get("sites", "List sites", sites.list_sites, Page[sites.SiteBody], query=SearchQuery, scopes=_READ_SITES),
    _post(
        "sites",
        "Create a site",
        sites.create_site,
        sites.SiteBody,
        body=sites.NewSiteBody,
        status=201,
        reach=_WHOLE,
    ),
    _get("sites/<int:site_id>", "Read a site", sites.read_site, sites.SiteBody, scopes=_READ_SITES),
    _patch("sites/<int:site_id>", "Change a site", sites.change_site, sites.SiteBody, body=sites.SiteChange),
    _delete("sites/<int:site_id>", "Remove a site; its streams stay", sites.remove_site, reach=_WHOLE),
)
_ENROLMENT = (
    _get(
        "templates",
        "List templates",
        enrolment.list_templates,
        Page[enrolment.TemplateBody],
        query=PageQuery,
        scopes=_ENROL,
    ),
    _post(
        "templates",
        "Create a template",
        enrolment.create_template,
        enrolment.TemplateBody,
        body=enrolment.NewTemplateBody,
        status=201,
        reach=_WHOLE,
    ),
    _get(
        "templates/<int:template_id>",
        "Read a template",
        enrolment.read_template,
        enrolment.TemplateBody,
        scopes=_ENROL,
    ),
    _patch(
        "templates/<int:template_id>",
        "Set the devices that have a template",
        enrolment.change_template,
        enrolment.TemplateBody,
        body=enrolment.TemplateChange,
        reach=_WHOLE,
    ),
    _delete(
        "templates/<int:template_id>",
        "Remove a template; its codes end",
        enrolment.remove_template,
        reach=_WHOLE,
    ),
    _get(
        "enrolment-codes",
        "List enrolment codes, the newest first",
        enrolment.list_codes,
        Page[enrolment.CodeBody],
        query=enrolment.CodeQuery,
        scopes=_ENROL,
    ),
    _post(
        "enrolment-codes",
        "Create an enrolment code",
        enrolment.create_code,
        enrolment.CreatedCodeBody,
        body=enrolment.NewCodeBody,
        status=201,
        scopes=_ENROL,
    ),
    _get(
        "enrolment-codes/<int:code_id>",
        "Read an enrolment code",
        enrolment.read_code,
        enrolment.CodeBody,
        scopes=_ENROL,
    ),
    _post(
        "enrolment-codes/<int:code_id>/end",
        "End an enrolment code; its devices go on",
        enrolment.end_code,
        enrolment.CodeBody,
        scopes=_ENROL,
    ),
    _delete(
        "enrolment-codes/<int:code_id>",
        "End an enrolment code; it stays listed for a while",
        enrolment.remove_code,
        scopes=_ENROL,
    ),
)
_DEVICES = (
    _get(
        "devices",
        "List devices, the newest first",
        devices.list_devices,
        Page[devices.DeviceBody],
        query=devices.DeviceQuery,
        scopes=_ENROL,
    ),
    _get("devices/<uuid:device_id>", "Read a device", devices.read_device, devices.DeviceBody, scopes=_ENROL),
    _post(
        "devices/<uuid:device_id>/revoke",
        "Revoke a device; its stream keeps its history",
        devices.revoke_a_device,
        devices.DeviceBody,
    ),
    _post(
        "devices/<uuid:device_id>/replacement",
        "A code for the box that takes over",
        devices.replace_device,
        enrolment.CreatedCodeBody,
        body=devices.ReplacementBody,
        status=201,
        scopes=_ENROL,
    ),
)
_CONFIGURATION = (
    _patch(
        "devices/<uuid:device_id>",
        "Set a device",
        device_configuration.change_device,
        devices.DeviceBody,
        body=device_configuration.DeviceChange,
    ),
    _get(
        "devices/<uuid:device_id>/configuration",
        "What a device is offered, and its versions",
        device_configuration.read_configuration,
        device_configuration.DeviceConfigurationBody,
    ),
    _post(
        "devices/<uuid:device_id>/configuration/again",
        "Offer what was refused or rolled back again",
        device_configuration.offer_configuration_again,
        device_configuration.DeviceConfigurationBody,
    ),
    _get(
        "devices/<uuid:device_id>/health",
        "A day of a device, minute by minute",
        device_configuration.read_health,
        device_configuration.HealthDay,
    ),
    _post(
        "device-configurations",
        "Set many devices, or preview that",
        device_configuration.configure_devices,
        device_configuration.ConfigurationAnswer,
        body=device_configuration.ConfigurationRequest,
        is_atomic=False,
    ),
)
_WEBHOOKS = (
    _get(
        "webhooks",
        "List webhooks",
        webhooks.list_webhooks,
        Page[webhooks.WebhookBody],
        query=PageQuery,
        reach=_WHOLE,
    ),
    _post(
        "webhooks",
        "Create a webhook",
        webhooks.create_webhook,
        webhooks.CreatedWebhookBody,
        body=webhooks.NewWebhookBody,
        status=201,
        reach=_WHOLE,
    ),
    _get("webhooks/<int:webhook_id>", "Read a webhook", webhooks.read_webhook, webhooks.WebhookBody, reach=_WHOLE),
    _patch(
        "webhooks/<int:webhook_id>",
        "Change, enable or disable a webhook",
        webhooks.change_webhook,
        webhooks.WebhookBody,
        body=webhooks.WebhookChange,
        reach=_WHOLE,
    ),
    _delete("webhooks/<int:webhook_id>", "Remove a webhook", webhooks.remove_webhook, reach=_WHOLE),
    _post(
        "webhooks/<int:webhook_id>/test",
        "Send a test event",
        webhooks.send_test_event,
        webhooks.DeliveryBody,
        reach=_WHOLE,
    ),
    _post(
        "webhooks/<int:webhook_id>/secret",
        "Replace the secret; both sign for a day",
        webhooks.replace_webhook_secret,
        webhooks.NewSecretBody,
        reach=_WHOLE,
    ),
    _get(
        "webhooks/<int:webhook_id>/deliveries",
        "What was sent, the newest first",
        webhooks.list_deliveries,
        Page[webhooks.DeliveryBody],
        query=PageQuery,
        reach=_WHOLE,
    ),
    _post(
        "webhooks/<int:webhook_id>/deliveries/<int:delivery_id>/replay",
        "Send an event again",
        webhooks.replay_delivery,
        webhooks.DeliveryBody,
        reach=_WHOLE,
    ),
)
_PEOPLE = (
    _get("members", "List members", members.list_members, Page[members.MemberBody], query=SearchQuery, reach=_WHOLE),
    _get("members/<int:member_id>", "Read a member", members.read_member, members.MemberBody, reach=_WHOLE),
    _patch(
        "members/<int:member_id>",
        "Change a member's role or sites",
        members.change_membership,
        members.MemberBody,
        body=members.MemberChange,
        reach=_WHOLE,
    ),
    _delete("members/<int:member_id>", "Remove a member", members.remove_membership, reach=_WHOLE),
    _get(
        "invitations",
        "List open invitations",
        members.list_invitations,
        Page[members.InvitationBody],
        query=PageQuery,
        reach=_WHOLE,
    ),
    _post(
        "invitations",
        "Invite people",
        members.invite_members,
        members.SentInvitationsBody,
        body=members.NewInvitationsBody,
        status=201,
        reach=_WHOLE,
        is_atomic=False,
    ),
    _delete("invitations/<uuid:invitation_id>", "Revoke an invitation", members.revoke_invitation, reach=_WHOLE),
)
_KEYS = (
    _get("keys", "List keys, the newest first", keys.list_keys, Page[keys.KeyBody], query=PageQuery, reach=_WHOLE),
    _post(
        "keys",
        "Create a key that can do no more than this one",
        keys.create_key,
        keys.CreatedKeyBody,
        body=keys.NewKeyBody,
        status=201,
        reach=_WHOLE,
    ),
    _get("keys/<int:key_id>", "Read a key", keys.read_key, keys.KeyBody, reach=_WHOLE),
    _delete("keys/<int:key_id>", "Revoke a key", keys.revoke_key, reach=_WHOLE),
)
_NOTES = (
    _get("notes", "List notes", notes.list_notes, Page[notes.NoteBody], query=notes.NoteQuery, scopes=_READ_STREAMS),
    _post(
        "notes",
        "Write a note about a stream, a site or all",
        notes.create_note,
        notes.NoteBody,
        body=notes.NewNoteBody,
        status=201,
    ),
    _get("notes/<int:note_id>", "Read a note", notes.read_note, notes.NoteBody, scopes=_READ_STREAMS),
    _patch("notes/<int:note_id>", "Change a note", notes.change_note, notes.NoteBody, body=notes.NoteChange),
    _delete("notes/<int:note_id>", "Remove a note", notes.remove_note),
)
_NUMBER_READING = (
    _get(
        "numbers",
        "Numbers of many streams, together or of each",
        numbers.read_many_numbers,
        numbers.NumbersBody,
        query=numbers.NumbersQuery,
        scopes=_NUMBERS,
    ),
)

CHAPTERS: dict[str, tuple[Operation, ...]] = {
    "Organisation": _ORGANISATION,
    "Streams": _STREAMS,
    "Sites": _SITES,
    "Enrolment": _ENROLMENT,
    "Devices": (*_DEVICES, *_CONFIGURATION),
    "People": _PEOPLE,
    "Keys": _KEYS,
    "Webhooks": _WEBHOOKS,
    "Numbers": _NUMBER_READING,
    "Notes": _NOTES,
}
"""All operations, as the reference has them."""
OPERATIONS: tuple[Operation, ...] = tuple(one for chapter in CHAPTERS.values() for one in chapter)
