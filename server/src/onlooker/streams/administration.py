"""Making and changing streams, for the command line and later the console."""

from dataclasses import dataclass

from django.contrib.auth import get_user_model
from django.db import connection, transaction

from onlooker.database import load_queries
from onlooker.streams.credentials import hash_access_token, new_access_token
from onlooker.streams.models import AccessToken, StateChange, Stream
from onlooker.streams.state import State, state_values

_queries = load_queries("onlooker.streams")


@dataclass(frozen=True)
class NewStream:
    """A stream and its access token, which nobody can read again."""

    stream: Stream
    access_token: str


@transaction.atomic
def create_stream(name: str, *, owner_email: str, kind: str) -> NewStream:
    """Make a stream; the owner's account is made too when there is none."""
    accounts = get_user_model()
    email = owner_email.strip().lower()
    owner = accounts.objects.filter(email=email).first() or accounts.objects.create_user(email)
    stream = Stream.objects.create(name=name, owner=owner, kind=kind)
    access_token = new_access_token()
    AccessToken.objects.create(stream=stream, sha256=hash_access_token(access_token))
    StateChange.objects.create(stream=stream, state=State.ENABLED)
    return NewStream(stream, access_token)


@transaction.atomic
def set_stream(client_id: str, changes: dict[str, object], *, quota_s: float) -> Stream:
    """Change what a stream can be set to, and log its state where that changes; raises Stream.DoesNotExist."""
    stream = Stream.objects.select_for_update(no_key=True).get(client_id=client_id)
    for name, value in changes.items():
        setattr(stream, name, value)
    stream.save(update_fields=list(changes))
    if {"enabled", "kind"} & changes.keys():
        with connection.cursor() as cursor:
            cursor.execute(_queries["log_state"], state_values(stream.id, quota_s=quota_s))
    return stream


def list_streams() -> list[Stream]:
    return list(Stream.objects.select_related("owner").order_by("id"))
