"""Idempotency keys: a request that is sent again gets the answer of the first, and is not done twice."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from onlooker.console.api.caller import ApiCaller
from onlooker.console.api.models import IdempotentRequest
from onlooker.console.web.secret_key import InvalidToken, seal, unseal
from onlooker.errors import Code, Problem, bad_request

HEADER = "Idempotency-Key"
LONGEST_KEY = 255
KEPT = timedelta(hours=24)
IN_PROGRESS_AT_MOST = timedelta(minutes=10)
"""Longer than any request takes: the console that had it is gone."""
DELETED_AT_ONCE = 5000
RETRY_AFTER_S = 2


@dataclass(frozen=True)
class StoredAnswer:
    """Status and body, as they are sent."""

    status: int
    body: bytes


def check_idempotency_key(text: str) -> str:
    if len(text) > LONGEST_KEY or not text.isascii() or not text.isprintable():
        raise bad_request(f"{HEADER} has 1 to {LONGEST_KEY} printable ASCII characters.")
    return text


def answer_once(
    caller: ApiCaller, idempotency_key: str, request_sha256: bytes, do: Callable[[], StoredAnswer], *, is_atomic: bool
) -> StoredAnswer:
    """Do it and keep the answer, or give the one that is kept. What fails is not kept: it can be sent again.

    `is_atomic`: what is done and its answer are written in one transaction, so not even a crash in between does it
    twice. Others are harmless to repeat.
    """
    row = _reserve(caller, idempotency_key, request_sha256)
    if row.status is not None:
        return _read_answer(row)
    try:
        if is_atomic:
            with transaction.atomic():
                return _keep(row, do())
        return _keep(row, do())
    except BaseException:
        IdempotentRequest.objects.filter(pk=row.pk, status=None).delete()
        raise


def _reserve(caller: ApiCaller, idempotency_key: str, request_sha256: bytes) -> IdempotentRequest:
    """A row that is ours to do (no status), or that of an earlier request. Raises Problem where it is another's."""
    key_sha256 = hashlib.sha256(f"{caller.key.pk} {idempotency_key}".encode()).digest()
    now = timezone.now()
    rows = IdempotentRequest.objects.filter(organisation=caller.organisation, key_sha256=key_sha256)
    with transaction.atomic():
        rows.filter(created_at__lt=now - KEPT).delete()
        rows.filter(created_at__lt=now - IN_PROGRESS_AT_MOST, status=None).delete()
        row, is_new = IdempotentRequest.objects.get_or_create(
            organisation=caller.organisation, key_sha256=key_sha256, defaults={"request_sha256": request_sha256}
        )
    if is_new:
        return row
    if bytes(row.request_sha256) != request_sha256:
        raise Problem(Code.CONFLICT, f"This {HEADER} was used for another request. Take a new one for a new request.")
    if row.status is None:
        detail = "The first request with this key is still in progress. Try again in a moment."
        raise Problem(Code.CONFLICT, detail, headers={"Retry-After": str(RETRY_AFTER_S)})
    return row


def _keep(row: IdempotentRequest, answer: StoredAnswer) -> StoredAnswer:
    row.status, row.sealed_answer = answer.status, seal(answer.body.decode())
    row.save(update_fields=["status", "sealed_answer"])
    return answer


def _read_answer(row: IdempotentRequest) -> StoredAnswer:
    try:
        return StoredAnswer(row.status or 0, unseal(row.sealed_answer).encode())
    except InvalidToken:
        detail = (
            "The request was done, and its answer can't be read any more. Look at what is there before you repeat it."
        )
        raise Problem(Code.CONFLICT, detail) from None


def hash_request(method: str, path: str, body: bytes) -> bytes:
    return hashlib.sha256(b"\0".join((method.encode(), path.encode(), body))).digest()


def delete_past_requests(now: datetime | None = None) -> int:
    """A chore."""
    past = IdempotentRequest.objects.filter(created_at__lt=(now or timezone.now()) - KEPT)
    return IdempotentRequest.objects.filter(pk__in=list(past.values_list("pk", flat=True)[:DELETED_AT_ONCE])).delete()[
        0
    ]
