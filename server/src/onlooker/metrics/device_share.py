"""How much was computed on devices, and how much later it arrived."""

from dataclasses import dataclass

from onlooker.database import Pool, load_queries
from onlooker.metrics.query import Query

_queries = load_queries("onlooker.metrics", "sql/device_share.sql")


@dataclass(frozen=True)
class DeviceShare:
    """Of a range; slots that it cuts count whole."""

    watched_s: float = 0.0
    late_s: float = 0.0
    """Between the end of a slot and its first arrival, the longest; a device that was offline tells later."""


async def read_device_share(pool: Pool, query: Query) -> DeviceShare:
    """Kept as long as visits are: nothing is known of earlier slots."""
    values = {"stream_id": query.stream_id, "from_at": query.from_at, "to_at": query.to_at}
    async with pool.connection() as connection:
        row = await (await connection.execute(_queries["read_device_share"], values, prepare=True)).fetchone()
    assert row
    return DeviceShare(row["watched_s"], max(row["late_s"], 0.0))
