"""The pages of devices: the list, codes that are shown once, templates, revoking and replacing."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.devices.access import managed_device, managed_devices, managed_organisations
from onlooker.console.devices.forms import CodeForm, TemplateForm
from onlooker.console.devices.instructions import describe_code
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


@signed_in("GET", "HEAD")
def list_devices(request: PersonRequest) -> HttpResponse:
    """Newest first, some at a time; `site` and `search` choose, `revoked` adds those that are revoked."""
    organisations = managed_organisations(request.user)
    found = list(_chosen_devices(request)[: ROWS + 1])
    context = {
        "rows": [_describe(device) for device in found[:ROWS]],
        "next": found[ROWS - 1].pk if len(found) > ROWS else None,
        "is_first": "before" not in request.GET,
        "sites": Site.objects.filter(organisation__in=organisations).order_by("name"),
        "site": _number(request.GET.get("site", "")),
        "search": request.GET.get("search", "")[:100],
        "shows_revoked": "revoked" in request.GET,
        "codes": open_codes(organisations).select_related("site", "template", "stream"),
        "templates": DeviceTemplate.objects.filter(organisation__in=organisations).order_by("name"),
        "is_manager": organisations.exists(),
    }
    return render(request, "devices/list.html", context)


def _chosen_devices(request: PersonRequest) -> QuerySet[Device]:
    rows = managed_devices(request.user).select_related("stream__site", "stream__agent_condition").order_by("-pk")
    before, site = _number(request.GET.get("before", "")), _number(request.GET.get("site", ""))
    search = request.GET.get("search", "")[:100].strip()
    if before:
        rows = rows.filter(pk__lt=before)
    if site:
        rows = rows.filter(stream__site=site)
    if search:
        rows = rows.filter(Q(stream__name__icontains=search) | Q(name__icontains=search))
    return rows if "revoked" in request.GET else rows.filter(revoked_at=None)


def _number(text: str) -> int | None:
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    return int(text) if is_number else None


def _describe(device: Device) -> DeviceRow:
    """What its agent reports to the gateway every minute is newer than what the console itself saw."""
    report = getattr(device.stream, "agent_condition", None)
    if report is None or device.revoked_at or report.received_at < device.seen_at:
        return DeviceRow(device, device.version, device.seen_at)
    return DeviceRow(device, report.version or device.version, report.received_at)


def _require_organisations(request: PersonRequest) -> QuerySet[Organisation]:
    """Those that the account manages, or Http404."""
    found = managed_organisations(request.user)
    if not found.exists():
        raise Http404
    return found


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
            form.add_error(None, str(error))
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
    messages.success(request, f"Code {code.beginning}… ended. Devices that enrolled with it go on.")
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
            form.add_error("name", str(error))
        else:
            messages.success(request, f"Template {made.name} created. Now create a code.")
            return redirect(f"{reverse('device-code-new')}?template={made.pk}")
    return render(request, "devices/new_template.html", {"form": form})


@signed_in("POST")
def remove_device_template(request: PersonRequest, template_id: int) -> HttpResponse:
    """Its codes end with it."""
    rows = DeviceTemplate.objects.filter(organisation__in=managed_organisations(request.user))
    template = get_object_or_404(rows, pk=min(template_id, LARGEST_NUMBER - 1))
    with acting_as(account_actor(request.user.pk)):
        remove_template(template)
    messages.success(request, f"Template {template.name} removed. Codes for it no longer work.")
    return redirect("devices")


@signed_in("GET", "HEAD", "POST")
def show_revocation(request: PersonRequest, device_id: UUID) -> HttpResponse:
    """Asks first."""
    device = managed_device(request.user, device_id)
    if request.method != "POST":
        return render(request, "devices/revoke.html", {"device": device})
    with acting_as(account_actor(request.user.pk)):
        revoke_device(device)
    messages.success(request, f"{device} is revoked. Its credential has ended; {device.stream.name} keeps its history.")
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
            messages.error(request, str(error))
    return render(request, "devices/replace.html", {"device": device})
