"""Sites: where streams stand, and whom viewers see."""

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.audit.actor import account_actor, acting_as
from onlooker.console.accounts.models import Account
from onlooker.console.accounts.page_access import PersonRequest, signed_in
from onlooker.console.forms import PlainForm
from onlooker.console.languages.locale_text import translate
from onlooker.console.streams.access import own_membership
from onlooker.console.streams.forms import HoursField, NameField, TimeZoneField
from onlooker.streams import sites
from onlooker.streams.models import Organisation, Site, Stream
from onlooker.streams.organisations import MANAGERS, RefusedError
from onlooker.streams.sites import LONGEST_SITE_ADDRESS, NAME_TAKEN, is_name_taken

STREAMS_OFFERED = 200
"""More would not fit on a page: then a stream's own settings say where it stands."""


class SiteForm(PlainForm):
    """A site, and which streams stand there."""

    name = NameField()
    address = forms.CharField(label=_lazy("Address"), required=False, max_length=LONGEST_SITE_ADDRESS)
    time_zone = TimeZoneField(initial="UTC")
    hours = HoursField()
    streams = forms.ModelMultipleChoiceField(
        Stream.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_lazy("Streams at this site"),
        help_text=_lazy("Streams of other sites are not listed: their settings say where they stand."),
    )

    def __init__(self, organisation: Organisation, site: Site | None = None, data: Any = None) -> None:
        fields = ("name", "address", "time_zone", "hours")
        initial: dict[str, Any] = {name: getattr(site, name) for name in fields} if site else {}
        super().__init__(data, initial=initial)
        self._organisation, self._site = organisation, site
        self.fields["name"].label = _("Name")
        self.fields["name"].help_text = _("For example, a shop or a branch.")
        self.fields["time_zone"] = TimeZoneField(current=site.time_zone if site else "", initial="UTC")
        self.fields["time_zone"].label = _("Time zone")
        self.fields["time_zone"].help_text = _("Streams have their own, which starts with this one.")
        self.fields["hours"].help_text = _("A stream that is created here without opening hours starts with these.")
        if site is None:
            self.fields["time_zone"].widget.attrs["data-browser-time-zone"] = ""
        offered = self._offered()
        if offered.count() > STREAMS_OFFERED or not offered.exists():
            del self.fields["streams"]
        else:
            choice = self.fields["streams"]
            assert isinstance(choice, forms.ModelMultipleChoiceField)
            choice.queryset = offered
            self.initial["streams"] = [stream.pk for stream in offered if site and stream.site_id == site.pk]

    def _offered(self) -> QuerySet[Stream]:
        """Those at this site or at none."""
        here = Q(site=None) | Q(site=self._site) if self._site else Q(site=None)
        rows = Stream.objects.filter(here, organisation=self._organisation, removed_at=None)
        return rows.order_by("name", "id")

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if is_name_taken(self._organisation, name, besides=self._site):
            raise forms.ValidationError(translate(NAME_TAKEN))
        return name

    def save(self) -> Site:
        """Create or change the site, and move streams in and out of it. Raises RefusedError."""
        given = dict(self.cleaned_data)
        chosen = given.pop("streams", None)
        site = sites.change_site(self._site, given) if self._site else sites.create_site(self._organisation, given)
        if chosen is not None:
            numbers = {stream.pk for stream in chosen}
            for stream in self._offered():
                wanted = site.pk if stream.pk in numbers else None
                if stream.site_id != wanted:
                    Stream.objects.filter(pk=stream.pk, organisation=self._organisation).update(site=wanted)
        return site


def _save(form: SiteForm, account: Account) -> Site | None:
    """None where the form says why not."""
    if not form.is_valid():
        return None
    try:
        with acting_as(account_actor(account.pk)):
            return form.save()
    except RefusedError as refusal:
        form.add_error(None, translate(refusal))
        return None


@signed_in("GET", "HEAD", "POST")
def create_site(request: PersonRequest, organisation_id: int) -> HttpResponse:
    organisation = own_membership(request.user, organisation_id, *MANAGERS).organisation
    form = SiteForm(organisation, None, request.POST or None)
    site = _save(form, request.user)
    if site is None:
        return render(request, "organisations/site.html", {"organisation": organisation, "form": form})
    messages.success(request, _("Site {name} created.").format(name=site.name))
    return redirect("organisation", organisation_id)


@signed_in("GET", "HEAD", "POST")
def change_site(request: PersonRequest, organisation_id: int, site_id: int) -> HttpResponse:
    organisation = own_membership(request.user, organisation_id, *MANAGERS).organisation
    site = get_object_or_404(Site, organisation=organisation, pk=site_id)
    form = SiteForm(organisation, site, request.POST or None)
    if _save(form, request.user) is None:
        return render(request, "organisations/site.html", {"organisation": organisation, "site": site, "form": form})
    messages.success(request, _("Site {name} saved.").format(name=site.name))
    return redirect("organisation", organisation_id)


@signed_in("POST")
def remove_site(request: PersonRequest, organisation_id: int, site_id: int) -> HttpResponse:
    """Its streams stay, at no site; viewers of this site no longer see them."""
    organisation = own_membership(request.user, organisation_id, *MANAGERS).organisation
    site = get_object_or_404(Site, organisation=organisation, pk=site_id)
    with acting_as(account_actor(request.user.pk)):
        sites.remove_site(site)
    text = _("Site {name} deleted. Its streams stay, and stand at no site.")
    messages.success(request, text.format(name=site.name))
    return redirect("organisation", organisation_id)
