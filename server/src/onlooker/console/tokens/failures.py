"""How often wrong credentials may be tried: counted over the last minute, by all consoles and the database's clock."""

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
"""For one username at one address; the next one is refused without a look at it."""
LIMIT_PER_ADDRESS = 100
"""Over all usernames; a right one is still answered, for it may be somebody else's at the same address."""
_LOCK = "SELECT pg_advisory_xact_lock(hashtext('onlooker token failures'), hashtext(%s))"


class Tries:
    """Of one username at one address; to be used within one transaction, in which nobody else tries with the two."""

    def __init__(self, username: str, address: str) -> None:
        self._username = hashlib.sha256(username.lower().encode()).digest()
        self._address = network_of(address)

    def require_left(self) -> None:
        """Raises where too many failed; waits for those that are being looked at."""
        _lock(f"{self._address} {self._username.hex()}")
        _require_fewer(self._of_address().filter(username_sha256=self._username), LIMIT_PER_USERNAME)

    def count_failure(self) -> None:
        """Raises where too many of this address failed; what is refused for that is not counted again."""
        _lock(self._address)
        _require_fewer(self._of_address(), LIMIT_PER_ADDRESS)
        Failure.objects.create(username_sha256=self._username, address=self._address)

    def _of_address(self) -> QuerySet[Failure]:
        return Failure.objects.filter(address=self._address, at__gt=Now() - WINDOW)


def network_of(address: str) -> str:
    """Of IPv6 the /64, which one subscriber has whole; what a proxy says instead of an address counts as one."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return "::"
    if found.version == 4:
        return str(found)
    if found.ipv4_mapped:
        return str(found.ipv4_mapped)
    return str(IPv6Network((int(found), 64), strict=False).network_address)


def forget_old() -> None:
    """A chore: what counts no more is not kept."""
    Failure.objects.filter(at__lte=Now() - WINDOW).delete()


def _require_fewer(failures: QuerySet[Failure], limit: int) -> None:
    """The next try is free as soon as one of the last `limit` is a minute old."""
    age = ExpressionWrapper(Now() - F("at"), output_field=DurationField())
    newest: list[timedelta] = list(failures.order_by("-at").values_list(age, flat=True)[:limit])
    if len(newest) == limit:
        wait_s = max(math.ceil((WINDOW - newest[-1]).total_seconds()), 1)
        detail = f"Too many failures. Check username, client_id and access_token, and try again in {wait_s} s."
        raise Problem(Code.RATE_LIMITED, detail, headers={"Retry-After": str(wait_s)})


def _lock(name: str) -> None:
    """Until the transaction ends; always first that of the username, then that of the address."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, [name])
