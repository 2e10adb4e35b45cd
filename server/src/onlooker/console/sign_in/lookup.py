"""Finds the provider that django-allauth names."""

from allauth.socialaccount.models import SocialApp

from onlooker.console.sign_in.models import IdentityProvider


def find_provider(provider_id: str) -> IdentityProvider:
    """One that is on; raises SocialApp.DoesNotExist, which allauth takes for "not found"."""
    number = provider_id.removeprefix("organisation-")
    found = None
    if number.isascii() and number.isdecimal():
        found = IdentityProvider.objects.select_related("organisation").filter(pk=int(number), is_on=True).first()
    if found is None:
        raise SocialApp.DoesNotExist
    return found
