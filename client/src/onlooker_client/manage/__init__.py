"""Manage an organisation from a program: streams, sites, devices, people, keys, webhooks, numbers."""

from __future__ import annotations

from onlooker_client.manage.device_records import (
    BulkConfiguration,
    ConfigurationState,
    ConfigurationVersion,
    Device,
    DeviceChange,
    DeviceConfiguration,
    EnrolmentCode,
    NewCode,
    Template,
)
from onlooker_client.manage.fleet_numbers import FleetCoverage, FleetDay, FleetNumbers, StreamNumbers
from onlooker_client.manage.organisation import Organisation
from onlooker_client.manage.records import (
    Addresses,
    BulkChange,
    Invitation,
    Invited,
    Key,
    Member,
    NewKey,
    NewPassword,
    NewSecret,
    NewStream,
    NewWebhook,
    OrganisationFacts,
    Site,
    Stream,
    StreamChange,
    Tag,
    Webhook,
    WebhookDelivery,
)
from onlooker_client.manage.selection import Selection

__all__ = [
    "Addresses",
    "BulkChange",
    "BulkConfiguration",
    "ConfigurationState",
    "ConfigurationVersion",
    "Device",
    "DeviceChange",
    "DeviceConfiguration",
    "EnrolmentCode",
    "FleetCoverage",
    "FleetDay",
    "FleetNumbers",
    "Invitation",
    "Invited",
    "Key",
    "Member",
    "NewCode",
    "NewKey",
    "NewPassword",
    "NewSecret",
    "NewStream",
    "NewWebhook",
    "Organisation",
    "OrganisationFacts",
    "Selection",
    "Site",
    "Stream",
    "StreamChange",
    "StreamNumbers",
    "Tag",
    "Template",
    "Webhook",
    "WebhookDelivery",
]
