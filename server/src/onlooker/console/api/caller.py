"""Who calls: the key of an organisation, what it reaches, and as what it acts."""

from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest

from onlooker.audit.actor import key_actor
from onlooker.console.tokens.rate_limit import CredentialAttempts
from onlooker.devices.models import Device
from onlooker.errors import Code, Problem, not_found
from onlooker.keys.keys import find_key, sites_of, streams_of
from onlooker.keys.models import OrganisationKey
from onlooker.streams.models import MemberRole, Organisation, Site, Stream

LARGEST_NUMBER = 2**63 - 1
CHALLENGE = {"WWW-Authenticate": "Bearer"}


@dataclass(frozen=True)
class ApiCaller:
    """A live key. What it does not reach does not exist for it."""

    key: OrganisationKey

    @property
    def organisation(self) -> Organisation:
        return self.key.organisation

    @property
    def actor(self) -> str:
        return key_actor(self.key.pk)

    @property
    def role(self) -> MemberRole:
        return MemberRole(self.key.role)

    def streams(self) -> QuerySet[Stream]:
        return streams_of(self.key)

    def sites(self) -> QuerySet[Site]:
        return sites_of(self.key)

    def devices(self) -> QuerySet[Device]:
        """Revoked ones, too."""
        return Device.objects.filter(stream__in=self.streams().values("pk"))

    def stream(self, client_id: UUID) -> Stream:
        found = self.streams().prefetch_related("tag_links__tag").filter(client_id=client_id).first()
        if found is None:
            raise not_found("stream")
        return found

    def site(self, site_id: int) -> Site:
        found = self.sites().select_related("organisation").filter(pk=require_number(site_id, "site")).first()
        if found is None:
            raise not_found("site")
        return found

    def device(self, device_id: UUID) -> Device:
        rows = self.devices().select_related("stream", "code").filter(device_id=device_id)
        found = rows.first()
        if found is None:
            raise not_found("device")
        return found

    def chosen_site(self, site_id: int | None) -> Site | None:
        """A site that a body names. A key for some sites must name one of them."""
        if site_id is None and not self.key.reaches_all:
            raise Problem(Code.FORBIDDEN, "This key is for some sites alone. Name one of them as the site.")
        if site_id is None:
            return None
        found = self.sites().filter(pk=site_id).first() if 0 < site_id <= LARGEST_NUMBER else None
        if found is None:
            raise Problem(Code.BAD_REQUEST, f"There is no site {site_id} that this key reaches.")
        return found

    def chosen_sites(self, site_ids: Collection[int]) -> list[Site]:
        """All of them, or Problem."""
        wanted = {number for number in site_ids if 0 < number <= LARGEST_NUMBER}
        found = list(self.sites().filter(pk__in=wanted).order_by("pk"))
        require_all("site", site_ids, [site.pk for site in found])
        return found


def require_all(what: str, wanted: Collection[object], found: Collection[object]) -> None:
    """Raises Problem that names one that was not found."""
    missing = set(wanted) - set(found)
    if missing:
        name = min(map(str, missing))
        raise Problem(Code.BAD_REQUEST, f"There is no {what} {name} that this key reaches and that fits the request.")


def require_number(number: int, what: str) -> int:
    """A number that the database can hold; there is nothing with another."""
    if number > LARGEST_NUMBER:
        raise not_found(what)
    return number


def authenticate(request: HttpRequest) -> ApiCaller:
    """By `Authorization: Bearer onl_...`. Failures are counted by address, over all consoles."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if not text:
        detail = "Send a key of the organisation: Authorization: Bearer onl_... Owners and managers create keys."
        raise Problem(Code.INVALID_KEY, detail, headers=CHALLENGE)
    key = find_key(text.strip()) if scheme.lower() == "bearer" else None
    if key is None:
        _count_failure(request.META["REMOTE_ADDR"])
        detail = "This key is unknown, expired or revoked. Create a new one on the page of the organisation."
        raise Problem(Code.INVALID_KEY, detail, headers=CHALLENGE)
    return ApiCaller(key)


def _count_failure(address: str) -> None:
    """Keys are too long to be guessed: this only limits the work. Right keys from the same address go on."""
    attempts = CredentialAttempts("organisation key", address, remedy="Check the key")
    with transaction.atomic():
        attempts.count_failure()
