"""Limits attempts with wrong credentials: counted over a minute, across all consoles, by the database's clock."""

import hashlib
import math
from datetime import timedelta
from ipaddress import IPv6Network, ip_address

from django.db import connection
from django.db.models import DurationField, ExpressionWrapper, F, QuerySet
from django.db.models.functions import Now

from onlooker.console.tokens.models import Failure
from onlooker.errors import Code, Problem

WINDOW = timedelta(minutes=1)
LIMIT_PER_USERNAME = 10
"""For one username from one address; the next attempt is refused unchecked."""
LIMIT_PER_ADDRESS = 100
"""For all usernames from one address; right credentials still work, since others may share the address."""
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('onlooker token failures'), hashtext(%s))"


class CredentialAttempts:
    """With one username from one address; use it within one transaction, which excludes others with the same two."""

    def __init__(
        self, username: str, address: str, *, remedy: str = "Check username, client_id and access_token"
    ) -> None:
        self._remedy = remedy
        self._username = hashlib.sha256(username.lower().encode()).digest()
        self._address = network_of(address)

    def require_left(self) -> None:
        """Raises Problem if too many failed; waits for attempts in progress."""
        _lock(f"{self._address} {self._username.hex()}")
        self._require_fewer(self._of_address().filter(username_sha256=self._username), LIMIT_PER_USERNAME)

    def count_failure(self) -> None:
        """Raises Problem if too many from this address failed; such a refusal is not counted."""
        _lock(self._address)
        self._require_fewer(self._of_address(), LIMIT_PER_ADDRESS)
        Failure.objects.create(username_sha256=self._username, address=self._address)

    def _of_address(self) -> QuerySet[Failure]:
        return Failure.objects.filter(address=self._address, at__gt=Now() - WINDOW)

    def _require_fewer(self, failures: QuerySet[Failure], limit: int) -> None:
        """The next attempt is allowed once the oldest of the last `limit` failures is a minute old."""
        age = ExpressionWrapper(Now() - F("at"), output_field=DurationField())
        newest: list[timedelta] = list(failures.order_by("-at").values_list(age, flat=True)[:limit])
        if len(newest) == limit:
            wait_s = max(math.ceil((WINDOW - newest[-1]).total_seconds()), 1)
            detail = f"Too many failed attempts. {self._remedy}, then try again in {wait_s} s."
            raise Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(wait_s)})


def network_of(address: str) -> str:
    """The /64 network of an IPv6 address, since one subscriber has all of it; anything unreadable counts as one."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return "::"
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(IPv6Network((int(found), 64), strict=False).network_address)


def delete_old_failures() -> None:
    """A chore."""
    Failure.objects.filter(at__lte=Now() - WINDOW).delete()


def _lock(name: str) -> None:
    """Until the transaction ends; always the username's lock first, then the address's."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [name])
