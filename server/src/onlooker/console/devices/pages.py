"""The pages of devices: the list, codes that are shown once, templates, revoking and replacing."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.devices.access import (
    managed_device,
    managed_devices,
    managed_organisations,
    may_enrol,
)
from onlooker.console.devices.device_filter import NO_VERSION, choose_devices, parse_filter, parse_number
from onlooker.console.devices.forms import CodeForm, TemplateForm
from onlooker.console.devices.health_words import (
    CONDITIONS,
    CONFIGURATION_STATES,
    name_condition,
    name_configuration,
    sign_of,
    sign_of_configuration,
)
from onlooker.console.devices.instructions import describe_code
from onlooker.console.languages.locale_text import translate
from onlooker.devices.enrolment import revoke_device
from onlooker.devices.enrolment_codes import (
    NewCode,
    create_code,
    create_replacement,
    create_template,
    end_code,
    open_codes,
    remove_template,
)
from onlooker.devices.models import Device, DeviceTemplate
from onlooker.streams.models import Organisation, Site
from onlooker.streams.organisations import RefusedError

ROWS = 100
LARGEST_NUMBER = 2**63


@dataclass(frozen=True)
class DeviceRow:
    """A device as the list shows it."""

    device: Device
    version: str
    seen_at: datetime
    condition: str
    sign: str
    configuration: str
    configuration_sign: str


@signed_in("GET", "HEAD")
def list_devices(request: PersonRequest) -> HttpResponse:
    """Newest first, some at a time; see DeviceFilter for what chooses, `revoked` adds those that are revoked."""
    organisations = managed_organisations(request.user)
    asked = parse_filter(request.GET.dict())
    chosen = choose_devices(managed_devices(request.user), asked)
    found = list(_page_of(chosen, parse_number(request.GET.get("before", "")))[: ROWS + 1])
    context = {
        "rows": [_describe(device) for device in found[:ROWS]],
        "next": found[ROWS - 1].pk if len(found) > ROWS else None,
        "is_first": "before" not in request.GET,
        "sites": Site.objects.filter(organisation__in=organisations).order_by("name"),
        "asked": asked,
        "address": asked.address(),
        "conditions": {value: _(name) for value, name in CONDITIONS.items()},
        "configurations": {value: _(name) for value, name in CONFIGURATION_STATES.items()},
        "codes": open_codes(organisations).select_related("site", "template", "stream"),
        "templates": DeviceTemplate.objects.filter(organisation__in=organisations).order_by("name"),
        "is_manager": may_enrol(request.user),
    }
    return render(request, "devices/list.html", context)


def _page_of(devices: QuerySet[Device], before: int | None) -> QuerySet[Device]:
    rows = devices.select_related("stream__site", "stream__agent_condition", "status").order_by("-pk")
    return rows.filter(pk__lt=before) if before else rows


def _describe(device: Any) -> DeviceRow:
    """With its judgement. The gateway or the console may have seen it later than its last report of health was."""
    seen = [device.seen_at]
    if not device.revoked_at:
        seen += [report.reported_at for report in [getattr(device, "status", None)] if report]
        seen += [report.received_at for report in [getattr(device.stream, "agent_condition", None)] if report]
    state = device.configuration_state or NO_VERSION
    return DeviceRow(
        device,
        device.version if device.revoked_at else device.agent_version,
        max(seen),
        name_condition(device.device_condition),
        sign_of(device.device_condition),
        name_configuration(state),
        sign_of_configuration(state),
    )


def _require_organisations(request: PersonRequest) -> QuerySet[Organisation]:
    """Those that the account manages: none yet, where its first template creates one. Or Http404."""
    if not may_enrol(request.user):
        raise Http404
    return managed_organisations(request.user)


@signed_in("GET", "HEAD", "POST")
def create_device_code(request: PersonRequest) -> HttpResponse:
    organisations = _require_organisations(request)
    if not DeviceTemplate.objects.filter(organisation__in=organisations).exists():
        return redirect("device-template-new")
    form = CodeForm(request.user, request.POST or None, template=request.GET.get("template", ""))
    if form.is_valid():
        given = form.cleaned_data
        try:
            with acting_as(account_actor(request.user.pk)):
                made = create_code(
                    given["template"], site=given["site"], devices=given["devices"], life=form.life, by=request.user
                )
            return _show_code(request, made)
        except RefusedError as error:
            form.add_error(None, translate(error))
    return render(request, "devices/new_code.html", {"form": form})


def _show_code(request: PersonRequest, made: NewCode) -> HttpResponse:
    """The answer to the POST that created it. A reload leads to the list, and no cache keeps this one."""
    answer = render(request, "devices/code.html", describe_code(made))
    answer["Cache-Control"] = "no-store"
    return answer


@signed_in("POST")
def end_device_code(request: PersonRequest, code_id: int) -> HttpResponse:
    code = get_object_or_404(open_codes(managed_organisations(request.user)), pk=min(code_id, LARGEST_NUMBER - 1))
    with acting_as(account_actor(request.user.pk)):
        end_code(code)
    said = _("Code {beginning}… ended. Devices that enrolled with it go on.").format(beginning=code.beginning)
    messages.success(request, said)
    return redirect("devices")


@signed_in("GET", "HEAD", "POST")
def create_device_template(request: PersonRequest) -> HttpResponse:
    _require_organisations(request)
    form = TemplateForm(request.user, request.POST or None)
    if form.is_valid():
        given = form.cleaned_data
        try:
            with acting_as(account_actor(request.user.pk)):
                made = create_template(
                    form.organisation,
                    given["name"],
                    form.chosen,
                    source=given["source"],
                    is_notice_given=given["notice_given"],
                )
        except RefusedError as error:
            form.add_error("name", translate(error))
        else:
            said = _("Template {template} created. Now create a code.").format(template=made.name)
            messages.success(request, said)
            return redirect(f"{reverse('device-code-new')}?template={made.pk}")
    return render(request, "devices/new_template.html", {"form": form})


@signed_in("POST")
def remove_device_template(request: PersonRequest, template_id: int) -> HttpResponse:
    """Its codes end with it."""
    rows = DeviceTemplate.objects.filter(organisation__in=managed_organisations(request.user))
    template = get_object_or_404(rows, pk=min(template_id, LARGEST_NUMBER - 1))
    with acting_as(account_actor(request.user.pk)):
        remove_template(template)
    said = _("Template {template} removed. Codes for it no longer work.").format(template=template.name)
    messages.success(request, said)
    return redirect("devices")


@signed_in("GET", "HEAD", "POST")
def show_revocation(request: PersonRequest, device_id: UUID) -> HttpResponse:
    """Asks first."""
    device = managed_device(request.user, device_id)
    if request.method != "POST":
        return render(request, "devices/revoke.html", {"device": device})
    with acting_as(account_actor(request.user.pk)):
        revoke_device(device)
    said = _("{device} is revoked. Its credential has ended; {stream} keeps its history.")
    messages.success(request, said.format(device=device, stream=device.stream.name))
    return redirect("devices")


@signed_in("GET", "HEAD", "POST")
def show_replacement(request: PersonRequest, device_id: UUID) -> HttpResponse:
    """A code for the box that takes over; the old one works until then."""
    device = managed_device(request.user, device_id)
    if request.method == "POST":
        try:
            with acting_as(account_actor(request.user.pk)):
                made = create_replacement(device.stream, by=request.user)
            return _show_code(request, made)
        except RefusedError as error:
            messages.error(request, translate(error))
    return render(request, "devices/replace.html", {"device": device})
