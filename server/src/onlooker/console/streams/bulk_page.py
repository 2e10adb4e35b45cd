"""Changing many streams at once: choose them, say what changes, see what that means, then change it."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import ngettext

from onlooker.audit.actor import account_actor
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.dashboard.fleet_list import parse_filter
from onlooker.console.dashboard.overview import read_listing
from onlooker.console.forms import PlainForm
from onlooker.console.languages.hours_text import write_hours
from onlooker.console.languages.locale_text import translate, write_count, write_named
from onlooker.console.streams.access import managed_streams
from onlooker.console.streams.forms import NO_SITE, HoursField
from onlooker.streams.bulk_changes import (
    AT_MOST,
    BulkChange,
    PlannedChange,
    apply_changes,
    digest_plan,
    parse_tags,
    plan_changes,
)
from onlooker.streams.models import LONGEST_RETENTION_DAYS, Site, Stream
from onlooker.streams.options import LARGEST_GROUPS
from onlooker.streams.organisations import RefusedError

SHOWN = 50
"""Streams that a preview lists; others are counted."""
HOURS_HELP = _lazy("On each stream's own clock, such as mo-fr 09:00-18:30, sa 10:00-16:00.")
KEEP, NONE, SET = "", "none", "set"
NAMES = {
    "site_id": _lazy("Site"),
    "retention_days": _lazy("Keep visits for (days)"),
    "hours": _lazy("Opening hours"),
    "groups_of": _lazy("Groups of at least"),
}


class TagsField(forms.CharField):
    """Names, separated by commas."""

    def clean(self, value: Any) -> tuple[str, ...]:
        try:
            return parse_tags(super().clean(value))
        except ValueError as error:
            raise forms.ValidationError(translate(error)) from None


class BulkForm(PlainForm):
    """What changes; what is left empty stays as it is."""

    streams = forms.CharField(widget=forms.HiddenInput)
    """Numbers of the chosen streams."""
    site = forms.ChoiceField(required=False)
    add_tags = TagsField(required=False, label=_lazy("Add tags"), help_text=_lazy("Separated by commas."))
    remove_tags = TagsField(required=False, label=_lazy("Remove tags"), help_text=_lazy("Separated by commas."))
    retention_days = forms.IntegerField(
        required=False, min_value=1, max_value=LONGEST_RETENTION_DAYS, label=NAMES["retention_days"]
    )
    hours_choice = forms.ChoiceField(
        required=False,
        label=NAMES["hours"],
        choices=[(KEEP, _lazy("Leave as they are")), (NONE, _lazy("Always open")), (SET, _lazy("These:"))],
    )
    hours = HoursField()
    groups_of = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=LARGEST_GROUPS,
        label=_lazy("Tell about people in groups of at least"),
        help_text=_lazy("1 means off. Raising it from 1 permanently erases what was kept of each quarter of an hour."),
    )

    def __init__(self, sites: Sequence[Site], data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        offered = [(str(site.pk), site.name) for site in sites]
        self.fields["site"] = forms.ChoiceField(
            required=False, label=NAMES["site_id"], choices=[(KEEP, _("Leave as it is")), (NONE, NO_SITE), *offered]
        )
        self.fields["hours"].label = _("Hours")
        self.fields["hours"].help_text = HOURS_HELP
        self.order_fields(["streams", "site"])

    def clean(self) -> dict[str, Any]:
        given: dict[str, Any] = self.cleaned_data
        if given.get("hours_choice") == SET and not given.get("hours") and "hours" not in self.errors:
            self.add_error("hours", _("Enter the opening hours."))
        return given

    @property
    def change(self) -> BulkChange:
        given = self.cleaned_data
        chosen: dict[str, Any] = {
            name: given[name] for name in ("retention_days", "groups_of") if given[name] is not None
        }
        if given["hours_choice"]:
            chosen["hours"] = given["hours"] if given["hours_choice"] == SET else ""
        if given["site"]:
            chosen["site_id"] = None if given["site"] == NONE else int(given["site"])
        return BulkChange(chosen, given["add_tags"], given["remove_tags"])


@signed_in("GET", "HEAD", "POST")
def show_bulk_change(request: PersonRequest) -> HttpResponse:
    streams = find_chosen(request, request.POST.get("streams", ""))
    organisations = {stream.organisation_id for stream in streams}
    context: dict[str, Any] = {"streams": streams[:SHOWN], "count": len(streams), "others": len(streams) - SHOWN}
    if len(organisations) != 1 or len(streams) > AT_MOST:
        context["trouble"] = _explain(streams)
        return render(request, "streams/change.html", context)
    sites = list(Site.objects.filter(organisation__in=organisations).order_by("name", "id"))
    initial = {"streams": ",".join(str(stream.pk) for stream in streams)}
    form = BulkForm(sites, request.POST if request.method == "POST" else None, initial=initial)
    context["form"] = form
    if not form.is_valid():
        return render(request, "streams/change.html", context)
    try:
        planned = plan_changes(streams, form.change)
    except RefusedError as error:
        form.add_error(None, translate(error))
        return render(request, "streams/change.html", context)
    digest = digest_plan(planned)
    if planned and request.POST.get("shown") == digest:
        return _apply(request, planned)
    context |= {"planned": True, "digest": digest, "is_other": bool(request.POST.get("shown"))}
    return render(request, "streams/change.html", context | describe_plan(planned, sites))


def find_chosen(request: PersonRequest, sent: str) -> list[Stream]:
    """Those that were ticked, or all that a list has found; only what the account may change. Http404 without any."""
    managed = managed_streams(request.user)
    if sent:
        ids = _parse_numbers(sent.split(","))
    elif "found" in request.GET:
        visible = list(managed.values_list("pk", flat=True))
        listing = read_listing(visible, parse_filter(request.GET.dict()), limit=AT_MOST + 1)
        ids = [row.id for row in listing.rows]
    else:
        ids = _parse_numbers(request.GET.getlist("stream"))
    found = managed.filter(pk__in=ids).select_related("site", "organisation").prefetch_related("tag_links__tag")
    streams = list(found.order_by("name", "id"))
    if not streams and ids:
        raise Http404
    return streams


def _parse_numbers(texts: Sequence[str]) -> list[int]:
    return [int(text) for text in texts[: AT_MOST + 1] if text.isascii() and text.isdecimal() and len(text) < 19]


def _explain(streams: Sequence[Stream]) -> str:
    if not streams:
        return _("No stream is selected. Tick some in the list of streams.")
    if len(streams) > AT_MOST:
        return _("At most {most} streams can be changed at once. Choose fewer, such as those of one site.").format(
            most=write_count(AT_MOST)
        )
    return _("These streams belong to several organisations. Choose streams of one.")


def _apply(request: PersonRequest, planned: Sequence[PlannedChange]) -> HttpResponse:
    changed = apply_changes(planned, actor=account_actor(request.user.pk), quota_s=settings.ONLOOKER.developer_quota_s)
    said = ngettext("{count} stream changed.", "{count} streams changed.", changed)
    messages.success(request, said.format(count=write_count(changed)))
    return redirect("streams")


def describe_plan(planned: Sequence[PlannedChange], sites: Sequence[Site]) -> dict[str, Any]:
    """How many streams change in what, and of the first ones how."""
    names = {None: _("no site")} | {site.pk: site.name for site in sites}
    counts = [(str(NAMES[name]), sum(name in one.settings for one in planned)) for name in NAMES]
    counts.append((_("Tags"), sum(bool(one.added_tags or one.removed_tags) for one in planned)))
    return {
        "changed": len(planned),
        "counts": [(name, count) for name, count in counts if count],
        "rows": [(one.stream, _describe_change(one, names)) for one in planned[:SHOWN]],
        "unlisted": max(0, len(planned) - SHOWN),
        "deleting": sum(one.deletes_visits for one in planned),
        "erasing": sum(one.erases_singles for one in planned),
    }


def _describe_change(one: PlannedChange, sites: dict[int | None, str]) -> list[str]:
    """A sentence for each setting."""

    def show(name: str, value: Any) -> str:
        if name == "site_id":
            return sites.get(value, _("another site"))
        if name == "hours":
            return write_hours(value) or _("always open")
        return str(value)

    told = [
        write_named(str(NAMES[name]), f"{show(name, before)} → {show(name, after)}")
        for name, (before, after) in one.settings.items()
    ]
    told += [_("Tag added: {name}").format(name=name) for name in one.added_tags]
    return told + [_("Tag removed: {name}").format(name=name) for name in one.removed_tags]
