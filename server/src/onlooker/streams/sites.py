"""Sites of an organisation: creating, changing and removing them, for the console's pages and its API."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from onlooker.streams.models import Organisation, Site
from onlooker.streams.organisations import RefusedError

SITES_PER_ORGANISATION = 10_000
LONGEST_SITE_ADDRESS = 300
NAME_TAKEN = _lazy("Another site has this name.")


def is_name_taken(organisation: Organisation, name: str, *, besides: Site | None = None) -> bool:
    others = Site.objects.filter(organisation=organisation, name=name)
    return (others.exclude(pk=besides.pk) if besides else others).exists()


@transaction.atomic
def create_site(organisation: Organisation, values: Mapping[str, Any]) -> Site:
    """Values are checked, by column. Raises RefusedError where there are too many, or the name is taken."""
    Organisation.objects.select_for_update(no_key=True).get(pk=organisation.pk)  # two at once could both fit
    if organisation.sites.count() >= SITES_PER_ORGANISATION:
        raise RefusedError(
            _("An organisation has at most {most} sites. Delete one that is not used.").format(
                most=number_format(SITES_PER_ORGANISATION, force_grouping=True)
            )
        )
    return _save(Site(organisation=organisation), values)


@transaction.atomic
def change_site(site: Site, values: Mapping[str, Any]) -> Site:
    """Raises RefusedError where another site has the name."""
    Organisation.objects.select_for_update(no_key=True).get(pk=site.organisation_id)
    return _save(site, values)


def _save(site: Site, values: Mapping[str, Any]) -> Site:
    if "name" in values and is_name_taken(site.organisation, values["name"], besides=site if site.pk else None):
        raise RefusedError(NAME_TAKEN)
    for name, value in values.items():
        setattr(site, name, value)
    site.save()
    return site


def remove_site(site: Site) -> None:
    """Its streams stay, at no site; viewers of this site no longer see them."""
    site.delete()
