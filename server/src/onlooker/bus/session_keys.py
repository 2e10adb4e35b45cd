"""The keys that session states are sealed with: a new one for each session and period, gone from the files in time."""

import asyncio
import math
import time

import msgspec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from onlooker.bus.connection import Bus, BusError
from onlooker.bus.key_buckets import KEY_BUCKETS, kept_s, key_bucket, period_s
from onlooker.bus.publishing import ANSWER_LIMIT_S, EXPECTED_REVISION, WRONG_REVISION, NotKept, publish_kept
from onlooker.settings import Settings


class _Deletion(msgspec.Struct):
    success: bool = False


_decode_deletion = msgspec.json.Decoder(_Deletion).decode


class SessionKeys:
    """Makes, finds and destroys keys; remembers those that this process seals with."""

    def __init__(self, bus: Bus, settings: Settings) -> None:
        self._bus = bus
        self._period_s = period_s(settings)
        self._kept_s = kept_s(settings)
        self._held: dict[str, tuple[int, AESGCM]] = {}

    async def current(self, name: str) -> tuple[int, AESGCM]:
        """The period that it is now, and the session's key for it."""
        period = int(time.time() / self._period_s)
        held = self._held.get(name)
        if held is None or held[0] != period:
            held = self._held[name] = (period, AESGCM(await self._make(period, name)))
        return held

    def forget(self, name: str) -> None:
        """The session may have been ended meanwhile: ask for its key before sealing again."""
        self._held.pop(name, None)

    async def find(self, period: int, name: str) -> AESGCM | None:
        """None once it has been destroyed."""
        found = await self._read(period % KEY_BUCKETS, name)
        return AESGCM(found[1]) if found else None

    async def destroy(self, name: str) -> None:
        """Overwrite every key of a session in the files."""
        self.forget(name)
        await asyncio.gather(*(self._destroy(index, name) for index in range(KEY_BUCKETS)))

    async def _make(self, period: int, name: str) -> bytes:
        """A new key, or the one that another worker has made for the same period first."""
        key = AESGCM.generate_key(256)
        last_use = (period + 1) * self._period_s
        left_s = math.ceil(last_use + self._kept_s - time.time())
        headers = {EXPECTED_REVISION: "0", "Nats-TTL": f"{left_s}s"}
        try:
            await publish_kept(self._bus, f"$KV.{key_bucket(period % KEY_BUCKETS)}.{name}", key, headers=headers)
        except NotKept as refusal:
            found = await self._read(period % KEY_BUCKETS, name) if refusal.code in WRONG_REVISION else None
            if found is None:
                raise
            return found[1]
        return key

    async def _read(self, index: int, name: str) -> tuple[int, bytes] | None:
        bucket = key_bucket(index)
        subject = f"$JS.API.DIRECT.GET.KV_{bucket}.$KV.{bucket}.{name}"
        found = await self._bus.ask(subject, timeout_s=ANSWER_LIMIT_S)
        headers = found.headers or {}
        return None if "Status" in headers else (int(headers["Nats-Sequence"]), found.data)

    async def _destroy(self, index: int, name: str) -> None:
        found = await self._read(index, name)
        if found is None:
            return
        question = msgspec.json.encode({"seq": found[0], "no_erase": False})
        subject = f"$JS.API.STREAM.MSG.DELETE.KV_{key_bucket(index)}"
        answer = await self._bus.ask(subject, question, timeout_s=ANSWER_LIMIT_S)
        if not _decode_deletion(answer.data).success and await self._read(index, name):
            raise BusError(f"{subject}: {answer.data.decode()}")
