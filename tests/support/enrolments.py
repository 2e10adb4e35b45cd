"""Devices that enrol at the console of this process: templates, codes, keys and requests."""

import secrets
from datetime import timedelta
from typing import Any

from django.http import HttpResponse

from onlooker.console.accounts.models import Account
from onlooker.devices.enrolment_codes import NewCode, create_code, create_template
from onlooker.devices.models import DeviceTemplate
from onlooker.streams.models import Site
from onlooker.streams.organisations import organisation_of
from token_requests import ask

ENROL, RENEW = "/devices/enrol/", "/devices/credential/"
SETTINGS = {"reads_faces": False, "retention_days": 90, "place": "public", "hours": "", "time_zone": "Europe/Paris"}


def template_of(owner: Account, name: str = "Shop window", **settings: Any) -> DeviceTemplate:
    organisation = organisation_of(owner)
    return create_template(organisation, name, SETTINGS | settings, source="0", is_notice_given=False)


def site_of(owner: Account, name: str = "Lyon") -> Site:
    return Site.objects.create(organisation=organisation_of(owner), name=name, time_zone="Europe/Rome")


def code_of(owner: Account, *, devices: int = 1, site: Site | None = None) -> NewCode:
    template = DeviceTemplate.objects.filter(organisation=organisation_of(owner)).first() or template_of(owner)
    return create_code(template, site=site, devices=devices, life=timedelta(days=1), by=owner)


def new_key() -> str:
    return secrets.token_urlsafe(32)


def enrol(code: str, key: str | None = None, **options: Any) -> HttpResponse:
    body = {"code": code, "device_key": key or new_key(), "name": "player-1", "machine": "Pi", "version": "0.1.0"}
    return ask(body, path=ENROL, **options)


def renew(key: str, **options: Any) -> HttpResponse:
    return ask({"device_key": key, "version": "0.2.0"}, path=RENEW, **options)


def enrolled(code: str, key: str | None = None) -> dict[str, Any]:
    answer = enrol(code, key)
    assert answer.status_code == 200, answer.content
    said: dict[str, Any] = answer.json()
    return said
