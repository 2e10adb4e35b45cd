"""What is on the bus, beside what the settings ask for."""

import math
from dataclasses import dataclass, fields
from typing import Any

import nats.errors
from nats.js.api import ClusterInfo, ConsumerConfig, StreamConfig
from nats.js.client import JetStreamContext
from nats.js.errors import NotFoundError, ServiceUnavailableError

from onlooker.bus.bucket_setup import bucket_configs, is_our_bucket
from onlooker.bus.subjects import VISITS
from onlooker.bus.visit_stream import CONSUMER, consumer_config, visit_stream_config
from onlooker.settings import Settings, variable_name

REMEDY = "run `onlooker bus prepare`"
_JUDGED_APART = ("name", "num_replicas")


@dataclass(frozen=True)
class StreamComparison:
    """A stream of the bus, or its consumer: how it is kept, and sentences about what is not as it should be."""

    name: str
    replicas: int = 0
    leader: str = ""
    differences: tuple[str, ...] = ()


async def compare_bus(jetstream: JetStreamContext, settings: Settings) -> list[StreamComparison]:
    """Of every stream that should be there, and of our buckets that should not."""
    wanted = [visit_stream_config(settings), *bucket_configs(settings)]
    found = [await _compare_stream(jetstream, config, settings) for config in wanted]
    known = {config.name for config in wanted}
    names = sorted(str(info.config.name) for info in await jetstream.streams_info())
    unused = [name for name in names if is_our_bucket(name) and name not in known]
    return [
        *found,
        await _compare_consumer(jetstream, settings),
        *(StreamComparison(name, differences=(f"{name} is no longer used: {REMEDY}.",)) for name in unused),
    ]


async def _compare_stream(jetstream: JetStreamContext, wanted: StreamConfig, settings: Settings) -> StreamComparison:
    name = str(wanted.name)
    try:
        info = await jetstream.stream_info(name)
    except NotFoundError:
        return StreamComparison(name, differences=(f"{name} is missing: {REMEDY}.",))
    except (ServiceUnavailableError, nats.errors.TimeoutError):
        return StreamComparison(name, differences=(_leaderless(name),))
    replicas = info.config.num_replicas or 1
    differences = _different_values(name, wanted, info.config)
    if replicas < settings.bus_replicas:
        asked = f"{variable_name('bus_replicas')} asks for {settings.bus_replicas}"
        differences.append(f"{name} has {_count(replicas)}, and {asked}: {REMEDY}.")
    differences += _standing(name, info.cluster, replicas)
    return StreamComparison(name, replicas, (info.cluster and info.cluster.leader) or "", tuple(differences))


async def _compare_consumer(jetstream: JetStreamContext, settings: Settings) -> StreamComparison:
    name = f"{VISITS}/{CONSUMER}"
    try:
        info = await jetstream.consumer_info(VISITS, CONSUMER)
    except NotFoundError:
        return StreamComparison(name, differences=(f"{name} is missing: {REMEDY}.",))
    except (ServiceUnavailableError, nats.errors.TimeoutError):
        return StreamComparison(name, differences=(_leaderless(name),))
    replicas = 1 + len((info.cluster and info.cluster.replicas) or [])
    differences = _different_values(name, consumer_config(), info.config)
    if replicas < settings.bus_replicas:
        differences.append(f"{name} has {_count(replicas)} of {settings.bus_replicas}: wait, or {REMEDY}.")
    differences += _standing(name, info.cluster, replicas)
    return StreamComparison(name, replicas, (info.cluster and info.cluster.leader) or "", tuple(differences))


def _different_values(
    name: str, wanted: StreamConfig | ConsumerConfig, found: StreamConfig | ConsumerConfig
) -> list[str]:
    pairs = [(one.name, getattr(wanted, one.name), getattr(found, one.name)) for one in fields(wanted)]
    return [
        f"{name}: {field} is {there}, and should be {asked}: {REMEDY}."
        for field, asked, there in pairs
        if field not in _JUDGED_APART and asked is not None and not _is_same(asked, there)
    ]


def _is_same(asked: Any, there: Any) -> bool:
    if isinstance(asked, float) and isinstance(there, int | float):
        return math.isclose(asked, there, abs_tol=1e-6)
    return bool(asked == there) or (not asked and there is None)


def _standing(name: str, cluster: ClusterInfo | None, replicas: int) -> list[str]:
    """Whether it has a leader and every replica is up to date; a bus of one server has no cluster."""
    if cluster is None or (replicas == 1 and cluster.leader):
        return []
    if not cluster.leader:
        return [_leaderless(name)]
    others = cluster.replicas or []
    found = [f"{name} has no replica on {one.name}, which is offline: start it." for one in others if one.offline]
    found += [
        f"{name} is not up to date on {one.name}: wait, and look at that server's log if it stays so."
        for one in others
        if not one.offline and not one.current
    ]
    missing = replicas - 1 - len(others)
    return [*found, f"{name} lacks {_count(missing)}: start more servers of the bus."] if missing > 0 else found


def _leaderless(name: str) -> str:
    return f"{name} has no leader: start the servers of the bus that are down, and wait a minute."


def _count(replicas: int) -> str:
    return "1 replica" if replicas == 1 else f"{replicas} replicas"
