"""`onlooker sign-in`: organisations' providers and domains on the command line."""

import re

import click

from onlooker.console.sign_in.models import IdentityProvider, ProvenDomain
from onlooker.streams.models import Organisation

_DOMAIN = re.compile(r"^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9]$")


def list_providers() -> list[str]:
    """A line for each organisation."""
    providers = {one.organisation_id: one for one in IdentityProvider.objects.all()}
    domains: dict[int, list[str]] = {}
    for proven in ProvenDomain.objects.order_by("domain"):
        domains.setdefault(proven.organisation_id, []).append(proven.domain)
    lines = [f"{'number':>6}  {'state':5}  {'issuer':40}  {'domains':30}  organisation"]
    for one in Organisation.objects.order_by("pk").iterator():
        provider = providers.get(one.pk)
        state = "none" if provider is None else "on" if provider.is_on else "off"
        issuer = provider.issuer if provider else "-"
        lines.append(f"{one.pk:6}  {state:5}  {issuer:40}  {', '.join(domains.get(one.pk, ['-'])):30}  {one.name}")
    return lines


def confirm_domain(number: int, domain: str) -> str:
    organisation, domain = _find_organisation(number), domain.strip().lower()
    if not _DOMAIN.match(domain):
        raise click.ClickException(f"{domain!r} is not a domain. Give the part of addresses after the @.")
    proven, _ = ProvenDomain.objects.get_or_create(domain=domain, defaults={"organisation": organisation})
    if proven.organisation_id != organisation.pk:
        raise click.ClickException(
            f"{domain} belongs to organisation {proven.organisation_id}. Take that back first, with --remove."
        )
    return f"{domain} belongs to {organisation.name}. Its provider's word for such addresses is taken from now on."


def withdraw_domain(number: int, domain: str) -> str:
    organisation, domain = _find_organisation(number), domain.strip().lower()
    if not ProvenDomain.objects.filter(domain=domain, organisation=organisation).delete()[0]:
        raise click.ClickException(
            f"{domain} was not confirmed for {organisation.name}. `onlooker sign-in list` shows what is."
        )
    return f"{domain} is no longer confirmed for {organisation.name}."


def _find_organisation(number: int) -> Organisation:
    found = Organisation.objects.filter(pk=number).first()
    if found is None:
        raise click.ClickException(f"There is no organisation {number}. `onlooker sign-in list` shows their numbers.")
    return found
