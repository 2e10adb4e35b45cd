"""Everything in the database that the secret key sealed: what still needs an earlier key, and sealing it again."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from allauth.mfa.models import Authenticator
from django.db import transaction
from django.db.models import QuerySet

from onlooker.console.sign_in.models import IdentityProvider
from onlooker.console.tokens.models import SigningKey
from onlooker.console.web.secret_key import InvalidToken, is_sealed_with_newest, reseal, unseal
from onlooker.webhooks.models import EndpointSecret

AUTHENTICATOR_SECRETS = ("secret", "seed", "migrated_codes")
"""Where allauth keeps what it had sealed, of a second factor and of recovery codes."""
SEALED_FIELDS: dict[type, str] = {
    SigningKey: "sealed_private_pem",
    IdentityProvider: "sealed_secret",
    EndpointSecret: "sealed_secret",
}
"""Tables with one sealed value in each row."""
SAID_EVERY = 100

Say = Callable[[str], None]


@dataclass
class SealState:
    """How many rows the newest key opens, how many only an earlier one, and which none of the keys."""

    newest: int = 0
    earlier: int = 0
    unreadable: list[str] = field(default_factory=list)


def examine_seals() -> SealState:
    """Changes nothing."""
    state = SealState()
    for rows in _sealed_rows():
        for row in rows:
            _count(state, row)
    return state


def reseal_all(say: Say) -> SealState:
    """Seal with the newest key what an earlier one sealed, row by row: it can be stopped and repeated at any time.

    The state is that of before.
    """
    state, done = SealState(), 0
    for rows in _sealed_rows():
        for pk in list(rows.values_list("pk", flat=True)):
            with transaction.atomic():
                row = rows.select_for_update().filter(pk=pk).first()  # whose codes may be used meanwhile
                if row and _count(state, row):
                    _reseal_row(row)
            done += 1
            if done % SAID_EVERY == 0:
                say(f"{done} rows looked at, {state.earlier} sealed again")
    return state


def _sealed_rows() -> Iterator[QuerySet[Any]]:
    """A signing key that retires is not opened again, so nothing is lost if no key fits it."""
    yield SigningKey.objects.filter(retires_at=None).order_by("pk")
    yield Authenticator.objects.order_by("pk")
    yield IdentityProvider.objects.order_by("pk")
    yield EndpointSecret.objects.order_by("pk")


def _count(state: SealState, row: Any) -> bool:
    """Whether it has to be sealed again."""
    values = _values(row)
    if all(map(is_sealed_with_newest, values)):
        state.newest += 1
        return False
    try:
        for value in values:
            unseal(value)
    except InvalidToken:
        state.unreadable.append(_describe(row))
        return False
    state.earlier += 1
    return True


def _values(row: Any) -> list[str]:
    if type(row) in SEALED_FIELDS:
        return [getattr(row, SEALED_FIELDS[type(row)])]
    found = [row.data[name] for name in AUTHENTICATOR_SECRETS if name in row.data]
    return [one for value in found for one in (value if isinstance(value, list) else [value])]


def _reseal_row(row: Any) -> None:
    if type(row) in SEALED_FIELDS:
        name = SEALED_FIELDS[type(row)]
        setattr(row, name, reseal(getattr(row, name)))
        row.save(update_fields=[name])
        return
    for name in AUTHENTICATOR_SECRETS:
        if name in row.data:
            value = row.data[name]
            row.data[name] = [reseal(one) for one in value] if isinstance(value, list) else reseal(value)
    row.save(update_fields=["data"])


def _describe(row: Any) -> str:
    """For messages: what it is and whose."""
    if isinstance(row, SigningKey):
        return f"signing key {row.kid}"
    if isinstance(row, IdentityProvider):
        return f"client secret of organisation {row.organisation_id}"
    if isinstance(row, EndpointSecret):
        return f"secret of webhook {row.endpoint_id}"
    return f"{row.type} of account {row.user_id}"
