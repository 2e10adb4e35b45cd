"""Templates, and the codes with which devices enrol."""

from datetime import timedelta
from typing import Annotated, Any, Literal

from django.db.models import F, Q, QuerySet
from django.utils import timezone
from msgspec import Meta

from onlooker.audit.actor import acting_as
from onlooker.console.api.caller import ApiCaller, require_number
from onlooker.console.api.fields import (
    UNSET,
    ComputeWord,
    Hours,
    Input,
    Number,
    Output,
    SettingChanges,
    Text,
    TimeZone,
    UnsetType,
    check_field,
    require_none,
)
from onlooker.console.api.operation import ApiCall, Nothing, OptionalTime, Time, write_moment, write_moment_or_null
from onlooker.console.api.pages import Page, PageQuery, read_page
from onlooker.devices import enrolment_codes
from onlooker.devices.configuration import set_template_settings
from onlooker.devices.enrolment_codes import LONGEST_LIFE, NewCode, check_source, check_template_name
from onlooker.devices.models import MOST_DEVICES, DeviceTemplate, EnrolmentCode
from onlooker.errors import bad_request, not_found
from onlooker.streams.business_hours import check_hours
from onlooker.streams.choices import StreamChoice
from onlooker.streams.options import check_time_zone
from onlooker.streams.presets import USUAL, CameraPlace, Preset

LifeDays = Annotated[float, Meta(gt=0, le=LONGEST_LIFE.days)]


class TemplateBody(Output, frozen=True):
    """What a device that enrols begins with."""

    id: int
    name: str
    source: Annotated[str, Meta(description="Camera of the agent")]
    settings: Annotated[dict[str, Any], Meta(description="Of the stream that each device creates")]
    device_settings: Annotated[dict[str, Any], Meta(description="Of the device; those of site and device go before")]
    notice_given_at: OptionalTime
    created_at: Time


class TemplateChange(Input, frozen=True):
    """What changes of a template; devices that have it follow."""

    device_settings: SettingChanges


class NewTemplateBody(Input, frozen=True):
    """A template that does not exist yet."""

    name: Text
    place: CameraPlace = CameraPlace.PUBLIC
    preset: Preset = USUAL
    notice_given: Annotated[bool, Meta(description="Whether the people in front of the cameras are told")] = False
    compute: ComputeWord = "server"
    time_zone: TimeZone = "UTC"
    hours: Hours = ""
    source: Text = "0"


class CodeBody(Output, frozen=True):
    """An enrolment code, without its text."""

    id: int
    beginning: Annotated[str, Meta(description="Its first characters")]
    state: Literal["open", "used", "expired", "ended"]
    template: int | None
    site: int | None
    stream: Annotated[str | None, Meta(description="client_id of the stream that its device takes over")]
    devices_at_most: int
    devices: Annotated[int, Meta(description="How many have enrolled with it")]
    expires_at: Time
    created_at: Time
    ended_at: OptionalTime


class CodeQuery(PageQuery, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Which codes."""

    state: Literal["open"] | UnsetType = UNSET


class NewCodeBody(Input, frozen=True):
    """A code that does not exist yet."""

    template: Number
    site: Number | None = None
    devices: Annotated[int, Meta(ge=1, le=MOST_DEVICES)] = 1
    life_days: LifeDays = 7


class CreatedCodeBody(Output, frozen=True):
    """A code, and its text, which is shown this once."""

    enrolment_code: CodeBody
    code: Annotated[str, Meta(description="What is typed or imaged onto devices, shown this once")]


def _templates(caller: ApiCaller) -> QuerySet[DeviceTemplate]:
    return DeviceTemplate.objects.filter(organisation=caller.organisation)


def find_template(caller: ApiCaller, template_id: int) -> DeviceTemplate:
    found = _templates(caller).select_related("organisation").filter(pk=require_number(template_id, "template")).first()
    if found is None:
        raise not_found("template")
    return found


def write_template(template: DeviceTemplate) -> TemplateBody:
    return TemplateBody(
        id=template.pk,
        name=template.name,
        source=template.source,
        settings=template.settings,
        device_settings=template.device_settings,
        notice_given_at=write_moment_or_null(template.notice_given_at),
        created_at=write_moment(template.created_at),
    )


def list_templates(call: ApiCall[Nothing, PageQuery]) -> Page[TemplateBody]:
    return read_page(_templates(call.caller), call.query, write_template, list_name="templates")


def read_template(call: ApiCall[Nothing, Nothing]) -> TemplateBody:
    return write_template(find_template(call.caller, call.path["template_id"]))


def create_template(call: ApiCall[NewTemplateBody, Nothing]) -> TemplateBody:
    body = call.body
    choice = StreamChoice(
        place=body.place,
        preset=body.preset,
        is_notice_given=body.notice_given,
        time_zone=check_field("time_zone", check_time_zone, body.time_zone),
        hours=check_field("hours", check_hours, body.hours),
    )
    require_none(choice.find_preset_refusals())
    name = check_field("name", check_template_name, body.name)
    source = check_field("source", check_source, body.source)
    chosen = choice.template_settings() | {"compute": body.compute}
    with acting_as(call.caller.actor):
        made = enrolment_codes.create_template(
            call.caller.organisation, name, chosen, source=source, is_notice_given=body.notice_given
        )
    return write_template(made)


def change_template(call: ApiCall[TemplateChange, Nothing]) -> TemplateBody:
    template, by = find_template(call.caller, call.path["template_id"]), call.caller.actor
    check_field(
        "device_settings", lambda named: set_template_settings(template, named, by=by), call.body.device_settings
    )
    return write_template(find_template(call.caller, template.pk))


def remove_template(call: ApiCall[Nothing, Nothing]) -> None:
    template = find_template(call.caller, call.path["template_id"])
    with acting_as(call.caller.actor):
        enrolment_codes.remove_template(template)


def _codes(caller: ApiCaller) -> QuerySet[EnrolmentCode]:
    rows = EnrolmentCode.objects.filter(organisation=caller.organisation).select_related("stream")
    if caller.key.reaches_all:
        return rows
    return rows.filter(Q(site__in=caller.sites().values("pk")) | Q(stream__in=caller.streams().values("pk")))


def _find_code(caller: ApiCaller, code_id: int) -> EnrolmentCode:
    found = _codes(caller).filter(pk=require_number(code_id, "enrolment code")).first()
    if found is None:
        raise not_found("enrolment code")
    return found


def write_code(code: EnrolmentCode) -> CodeBody:
    return CodeBody(
        id=code.pk,
        beginning=code.beginning,
        state=_find_state(code),
        template=code.template_id,
        site=code.site_id,
        stream=str(code.stream.client_id) if code.stream else None,
        devices_at_most=code.devices_at_most,
        devices=code.devices,
        expires_at=write_moment(code.expires_at),
        created_at=write_moment(code.created_at),
        ended_at=write_moment_or_null(code.ended_at),
    )


def _find_state(code: EnrolmentCode) -> Literal["open", "used", "expired", "ended"]:
    if code.ended_at:
        return "ended"
    if code.devices >= code.devices_at_most:
        return "used"
    return "expired" if code.expires_at <= timezone.now() else "open"


def list_codes(call: ApiCall[Nothing, CodeQuery]) -> Page[CodeBody]:
    rows = _codes(call.caller)
    if call.query.state == "open":
        rows = rows.filter(ended_at=None, expires_at__gt=timezone.now(), devices__lt=F("devices_at_most"))
    return read_page(rows, call.query, write_code, list_name="enrolment-codes", newest_first=True)


def read_code(call: ApiCall[Nothing, Nothing]) -> CodeBody:
    return write_code(_find_code(call.caller, call.path["code_id"]))


def create_code(call: ApiCall[NewCodeBody, Nothing]) -> CreatedCodeBody:
    caller, body = call.caller, call.body
    site = caller.chosen_site(body.site)
    template = _templates(caller).filter(pk=body.template).first()
    if template is None:
        raise bad_request(f"There is no template {body.template}.")
    with acting_as(caller.actor):
        made = enrolment_codes.create_code(
            template, site=site, devices=body.devices, life=timedelta(days=body.life_days), by=caller.key.created_by
        )
    return write_new_code(made)


def write_new_code(made: NewCode) -> CreatedCodeBody:
    made.code.refresh_from_db()
    return CreatedCodeBody(enrolment_code=write_code(made.code), code=made.text)


def end_code(call: ApiCall[Nothing, Nothing]) -> CodeBody:
    """Again, it changes nothing."""
    code = _find_code(call.caller, call.path["code_id"])
    with acting_as(call.caller.actor):
        enrolment_codes.end_code(code)
    code.refresh_from_db()
    return write_code(code)


def remove_code(call: ApiCall[Nothing, Nothing]) -> None:
    """It ends; it stays listed for a while."""
    end_code(call)
