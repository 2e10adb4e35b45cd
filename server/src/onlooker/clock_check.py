"""This process's clock, compared with the database's: one that is wrong must not serve silently."""

import asyncio
import logging
import time

from prometheus_client import Gauge

from onlooker.database import DATABASE_UNAVAILABLE, Pool
from onlooker.logs import fields
from onlooker.settings import Settings, variable_name

log = logging.getLogger(__name__)

COMPARE_EVERY_S = 30.0
LOOK_EVERY_S = 1.0
READ_CLOCK = "SELECT extract(epoch FROM clock_timestamp())::float8 AS now"
REMEDY = "Set the one that is wrong, and keep both right with NTP (`timedatectl set-ntp true`)"

offset_gauge = Gauge("onlooker_clock_offset_seconds", "How far this process's clock is ahead of the database's")


def outside(moment: float, *, earliest: float, latest: float) -> float:
    """How far a moment of another clock is after the latest, or, below 0, before the earliest that it can be."""
    return max(moment - latest, 0.0) + min(moment - earliest, 0.0)


class ClockCheck:
    """The database's time, as it was read last and has gone on since; this machine's clock may be set meanwhile.

    A clock counts as right until it was compared.
    """

    def __init__(self, settings: Settings) -> None:
        self.limit_s = settings.clock_limit_s
        self._ahead_of_monotonic_s: float | None = None
        """The database's time, less the time that nobody can set."""
        self._uncertain_s = 0.0
        self._was_right = True
        self._database_is_odd = self._was_odd = False

    def right_time(self) -> float:
        """Now, by the database's clock."""
        if self._ahead_of_monotonic_s is None:
            return time.time()
        return time.monotonic() + self._ahead_of_monotonic_s

    @property
    def offset_s(self) -> float:
        return time.time() - self.right_time()

    @property
    def is_right(self) -> bool:
        """What the time between question and answer can explain is not held against a clock."""
        return abs(self.offset_s) - self._uncertain_s <= self.limit_s

    @property
    def reason(self) -> str:
        """A sentence with the remedy."""
        offset_s = self.offset_s
        return (
            f"This machine's clock is {abs(offset_s):.1f} s {'ahead of' if offset_s > 0 else 'behind'} the database's, "
            f"and {variable_name('clock_limit_s')} allows {self.limit_s:g} s. {REMEDY}."
        )

    def facts(self) -> dict[str, str]:
        """What `/readyz` says beside its checks."""
        return {} if self.is_right else {"reason": self.reason}

    async def wait_until_right(self) -> None:
        while not self.is_right:  # noqa: ASYNC110 (a clock that is set sends no event)
            await asyncio.sleep(LOOK_EVERY_S)

    async def run(self, pool: Pool) -> None:
        """Compare until cancelled; at once where the clock seems wrong, since the machine may have slept."""
        compare_at = time.monotonic() + COMPARE_EVERY_S
        while True:
            if time.monotonic() >= compare_at or not self.is_right:
                await self.measure(pool)
                compare_at = time.monotonic() + COMPARE_EVERY_S
            self._report()
            await asyncio.sleep(LOOK_EVERY_S)

    async def measure(self, pool: Pool) -> None:
        """Compare once; while the database is unavailable, the last comparison holds."""
        try:
            async with pool.connection() as connection:
                asked_at = time.monotonic()
                row = await (await connection.execute(READ_CLOCK)).fetchone()
                took_s = time.monotonic() - asked_at
        except DATABASE_UNAVAILABLE:
            return
        assert row
        self.note(float(row["now"]), asked_at=asked_at, took_s=took_s)

    def note(self, database_time: float, *, asked_at: float, took_s: float) -> None:
        """The database's clock was read halfway between question and answer, as far as is known.

        Where it contradicts both what it said before and our own clock, it is the database's that was set, or another
        server took over whose clock is wrong: what was known before holds, and the others go on serving.
        """
        ahead_s, uncertain_s = database_time - (asked_at + took_s / 2), took_s / 2
        own_offset_s = time.time() - time.monotonic() - ahead_s
        self._database_is_odd = (
            self._ahead_of_monotonic_s is not None
            and self.is_right
            and abs(own_offset_s) - uncertain_s > self.limit_s
            and abs(ahead_s - self._ahead_of_monotonic_s) - uncertain_s > self.limit_s
        )
        if not self._database_is_odd:
            self._ahead_of_monotonic_s, self._uncertain_s = ahead_s, uncertain_s

    def _report(self) -> None:
        offset_gauge.set(self.offset_s)
        if self._database_is_odd != self._was_odd:
            self._was_odd = self._database_is_odd
            said = "the database's clock jumped: check it" if self._was_odd else "the database's clock is right again"
            log.error(said)
        is_right = self.is_right
        if is_right == self._was_right:
            return
        self._was_right = is_right
        if is_right:
            log.warning("the clock is right again", extra=fields(offset_s=round(self.offset_s, 3)))
        else:
            log.error("the clock is wrong", extra=fields(reason=self.reason))
