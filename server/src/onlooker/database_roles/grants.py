"""Which process may do what in the database: the one table of grants."""

import re
from dataclasses import dataclass

MIGRATIONS = "migrations"
"""Owns the tables and changes them; no process that runs has its role."""
GATEWAY, DISPATCHER, RECORDER, CONSOLE, DATA = "gateway", "dispatcher", "recorder", "console", "data"
PROCESSES = (GATEWAY, DISPATCHER, RECORDER, CONSOLE, DATA)
ROLES = (MIGRATIONS, *PROCESSES)

OWN = "SELECT, INSERT, UPDATE, DELETE"
_KEYS = {
    "keys_keysite": "SELECT (key_id, site_id)",
    "keys_keystream": "SELECT (key_id, stream_id)",
    "keys_organisationkey": (
        "SELECT (id, organisation_id, sha256, scopes, reaches_all, expires_at, used_at, revoked_at), UPDATE (used_at)"
    ),
}
"""Of those who check keys."""

GRANTS: dict[str, dict[str, str]] = {
    GATEWAY: {
        "accounts_account": "SELECT (id, is_active)",
        "devices_device": "SELECT (id, stream_id, revoked_at)",
        "django_migrations": "SELECT (app, name)",
        "gateway_blob": "SELECT, INSERT, DELETE",
        "gateway_job": "SELECT, INSERT, DELETE",
        **_KEYS,
        "streams_accesstoken": "SELECT (stream_id, sha256, is_trial, expires_at)",
        "streams_agentcondition": "SELECT, INSERT, UPDATE",
        "streams_blindness": "SELECT, INSERT, UPDATE",
        "streams_coverage": "SELECT, INSERT, UPDATE",
        "streams_devicecoverage": "SELECT, INSERT, UPDATE",
        "streams_membership": "SELECT (organisation_id, account_id, role)",
        "streams_picturecondition": "SELECT, INSERT, UPDATE",
        "streams_quality": "SELECT, INSERT, UPDATE",
        "streams_refusal": "SELECT, INSERT, UPDATE",
        "streams_statechange": "SELECT, INSERT",
        "streams_stream": (
            "SELECT (id, client_id, kind, enabled, organisation_id, owner_id, site_id, removed_at, retention_days,"
            " time_zone, reads_age, reads_gender, reads_expression, reads_faces, compute, hours, hours_since,"
            " groups_of)"
        ),
        "streams_usage": "SELECT, INSERT, UPDATE",
    },
    DISPATCHER: {
        "accounts_account": "SELECT (id, is_active)",
        "django_migrations": "SELECT (app, name)",
        "gateway_blob": "SELECT, DELETE",
        "gateway_job": "SELECT, UPDATE, DELETE",
        "gateway_listedworker": OWN,
        "streams_blindness": "SELECT, INSERT, UPDATE",
        "streams_coverage": "SELECT, INSERT, UPDATE",
        "streams_membership": "SELECT (organisation_id, account_id, role)",
        "streams_picturecondition": "SELECT, INSERT, UPDATE",
        "streams_quality": "SELECT, INSERT, UPDATE",
        "streams_refusal": "SELECT, INSERT, UPDATE",
        "streams_statechange": "SELECT, INSERT",
        "streams_stream": (
            "SELECT (id, kind, enabled, organisation_id, owner_id, retention_days, time_zone,"
            " reads_age, reads_gender, reads_expression, reads_faces)"
        ),
        "streams_usage": "SELECT, INSERT, UPDATE",
    },
    RECORDER: {
        "django_migrations": "SELECT (app, name)",
        "metrics_block": "SELECT, INSERT",
        "metrics_blockprogress": "SELECT, INSERT, UPDATE",
        "metrics_slot": "SELECT, INSERT, UPDATE",
        "metrics_state": "SELECT, UPDATE",
        "metrics_week": "INSERT",
        "metrics_weekcell": "INSERT",
        "streams_devicecoverage": "SELECT, DELETE",
        "streams_stream": (
            "SELECT (id, removed_at, retention_days, time_zone, compute, groups_of, grid, grouped_until)"
        ),
        "visits_erased": "SELECT, DELETE",
        "visits_kept": "SELECT, INSERT, UPDATE",
        "visits_mark": OWN,
        "visits_putaside": "SELECT, INSERT, DELETE",
        "visits_visit": OWN,
    },
    DATA: {
        "audit_entry": "INSERT (stream_id, actor, action, detail)",
        "accounts_account": "SELECT (id, is_active)",
        "django_migrations": "SELECT (app, name)",
        **_KEYS,
        "metrics_block": "SELECT",
        "metrics_blockprogress": "SELECT",
        "metrics_coveragehour": "SELECT",
        "metrics_qualityhour": "SELECT",
        "metrics_slot": "SELECT",
        "metrics_state": "SELECT",
        "metrics_week": "SELECT",
        "metrics_weekcell": "SELECT",
        "streams_accesstoken": "SELECT (id, stream_id, is_trial, expires_at)",
        "streams_blindness": "SELECT",
        "streams_coverage": "SELECT",
        "streams_member": "SELECT",
        "streams_membership": "SELECT (id, organisation_id, account_id, role, created_at)",
        "streams_membershipsite": "SELECT",
        "streams_openinghours": "SELECT",
        "streams_quality": "SELECT",
        "streams_refusal": "SELECT",
        "streams_statechange": "SELECT",
        "streams_stream": (
            "SELECT (id, client_id, organisation_id, owner_id, site_id, created_at, coverage_since, removed_at,"
            " time_zone, grid, grouped_until)"
        ),
        "tokens_signingkey": "SELECT (kid, public_jwk, retires_at)",
        "visits_kept": "SELECT",
        "visits_mark": "SELECT",
        "visits_visit": "SELECT",
    },
    CONSOLE: {
        # People: accounts, how they sign in, what they did.
        "account_emailaddress": OWN,
        "account_emailconfirmation": OWN,
        "accounts_account": OWN,
        "accounts_account_groups": "SELECT, DELETE",
        "accounts_account_user_permissions": "SELECT, DELETE",
        "accounts_securityevent": "SELECT, INSERT, DELETE",
        "auth_group": "SELECT",
        "auth_group_permissions": "SELECT",
        "auth_permission": "SELECT",
        "console_cache": OWN,
        "django_admin_log": OWN,
        "django_content_type": "SELECT",
        "django_migrations": "SELECT (app, name)",
        "django_session": OWN,
        "mfa_authenticator": OWN,
        "sign_in_grouprole": OWN,
        "sign_in_identityprovider": OWN,
        "sign_in_provendomain": "SELECT, DELETE",
        "sign_in_provideridentity": OWN,
        "socialaccount_socialaccount": OWN,
        "socialaccount_socialapp": "SELECT",
        "socialaccount_socialtoken": "SELECT, DELETE",
        "usersessions_usersession": OWN,
        # Streams, and who may see them.
        "alerts_blindcamera": OWN,
        "api_idempotentrequest": OWN,
        "alerts_judgedhour": OWN,
        "alerts_silence": OWN,
        "alerts_unusualday": OWN,
        "checks_cameracheck": OWN,
        "devices_device": OWN,
        "devices_deviceconfiguration": OWN,
        "devices_devicecredential": OWN,
        "devices_devicehealth": OWN,
        "devices_devicestatus": OWN,
        "devices_devicetemplate": OWN,
        "devices_enrolmentcode": OWN,
        "devices_sitedevicesettings": OWN,
        "keys_keysite": OWN,
        "keys_keystream": OWN,
        "keys_organisationkey": OWN,
        "members_invitation": OWN,
        "members_invitationsite": OWN,
        "notices_noticedetails": OWN,
        "notices_noticeversion": "SELECT, DELETE",
        "reports_mailedreport": OWN,
        "reports_reportmail": OWN,
        "reports_reportpolicy": OWN,
        "reports_reportrecipient": OWN,
        "reports_sharedlink": OWN,
        "streams_accesstoken": OWN,
        "streams_member": "SELECT, DELETE",
        "streams_membership": OWN,
        "streams_membershipsite": OWN,
        "streams_note": OWN,
        "streams_openinghours": OWN,
        "streams_organisation": OWN,
        "streams_site": OWN,
        "streams_stream": OWN,
        "streams_statechange": "SELECT, INSERT, DELETE",
        "streams_streamtag": OWN,
        "streams_tag": OWN,
        "tokens_failure": OWN,
        "tokens_signingkey": OWN,
        "webhooks_delivery": OWN,
        "webhooks_endpoint": OWN,
        "webhooks_endpointsecret": OWN,
        # What was done: it only grows.
        "audit_chain": "SELECT",
        "audit_organisationchain": "SELECT",
        "audit_organisationentry": "SELECT",
        "audit_entry": "SELECT, INSERT (stream_id, actor, action, detail)",
        "audit_retention": OWN,
        # Money.
        "billing_checkout": OWN,
        "billing_customer": OWN,
        "billing_event": OWN,
        "billing_notice": OWN,
        "billing_subscription": OWN,
        # What others write: it is shown, and goes with its stream.
        "gateway_blob": "SELECT, UPDATE",
        "gateway_job": "SELECT, UPDATE, DELETE",
        "gateway_listedworker": "SELECT",
        "metrics_block": "SELECT, DELETE",
        "metrics_blockprogress": "SELECT, UPDATE, DELETE",
        "metrics_coveragehour": "SELECT",
        "metrics_day": "SELECT",
        "metrics_daycoverage": "SELECT",
        "metrics_qualityhour": "SELECT",
        "metrics_slot": "SELECT, DELETE",
        "metrics_state": "SELECT",
        "metrics_week": "SELECT",
        "metrics_weekcell": "SELECT",
        "streams_agentcondition": "SELECT, DELETE",
        "streams_blindness": "SELECT, DELETE",
        "streams_coverage": "SELECT, DELETE",
        "streams_devicecoverage": "SELECT, UPDATE (sums), DELETE",
        "streams_picturecondition": "SELECT, DELETE",
        "streams_quality": "SELECT, DELETE",
        "streams_refusal": "SELECT, DELETE",
        "streams_usage": "SELECT, DELETE",
        "visits_erased": "SELECT, INSERT, DELETE",
        "visits_kept": "SELECT, DELETE",
        "visits_mark": OWN,
        "visits_putaside": "SELECT, DELETE",
        "visits_visit": "SELECT, DELETE",
    },
}
"""By process and table, as PostgreSQL writes them. What is not here is not granted.

`owner_id` of streams and the view `streams_member` are for processes of the release before.
"""

FUNCTIONS: dict[str, tuple[str, ...]] = {
    GATEWAY: ("streams_lock(bigint)",),
    DISPATCHER: ("streams_lock(bigint)",),
    RECORDER: ("visits_make_partition(date)", "visits_drop_partition(date)"),
    CONSOLE: ("audit_end(bigint)", "audit_end_organisation(bigint)"),
    MIGRATIONS: ("notices_keep()",),
}
"""Functions that run with the rights of the tables' owner, and who may call them; a trigger's function nobody does."""

PARTITIONS = "^visits_visit_y[0-9]{4,6}m[0-9]{2}$"
"""Visits are read and written through their table, whose grants count: nobody needs any on a month."""


@dataclass(frozen=True, order=True)
class Privilege:
    """One kind of access to a table, or to one of its columns."""

    table: str
    kind: str
    column: str = ""

    def __str__(self) -> str:
        return f"{self.kind}{f' ({self.column})' if self.column else ''} on {self.table}"


def known_tables() -> tuple[str, ...]:
    """All of ours, except the months of visits."""
    return tuple(sorted({table for tables in GRANTS.values() for table in tables}))


def known_functions() -> tuple[str, ...]:
    return tuple(sorted({name for names in FUNCTIONS.values() for name in names}))


def privileges_of(process: str) -> set[Privilege]:
    """What the table of grants says of a process, one by one."""
    found = set()
    for table, granted in GRANTS.get(process, {}).items():
        for kind, columns in re.findall(r"(\w+)(?: \(([^)]*)\))?(?:, |$)", granted):
            found |= {Privilege(table, kind, column.strip()) for column in columns.split(",")}
    return found
