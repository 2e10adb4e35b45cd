"""Who may do what on the bus: one user per role, with the subjects it needs and no others."""

from dataclasses import dataclass

from onlooker.bus.bucket_setup import KEY_BUCKETS
from onlooker.bus.subjects import (
    COMPUTE,
    FEEDS,
    RESULTS,
    SESSION_KEYS,
    SESSION_STATES,
    VISITS,
    ended_subject,
    visits_subject,
)

GATEWAY = "gateway"
DISPATCHER = "dispatcher"
RECORDER = "recorder"
SETUP = "setup"


@dataclass(frozen=True)
class Role:
    """A user of the bus. With `answers`, it may also reply, once, to a question."""

    user: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    answers: bool = False


def inbox_of(user: str) -> str:
    """Prefix of the subjects on which only this role gets its answers."""
    return f"_INBOX_{user}"


def _bucket_access(*buckets: str, shards: int) -> tuple[str, ...]:
    """Subjects for reading and writing buckets. A wildcard can't stand for part of a name."""
    names = [f"{bucket}-{index}" for bucket in buckets for index in range(shards)]
    return (*(f"$KV.{name}.>" for name in names), *_reading(*buckets, shards=shards))


def _reading(*buckets: str, shards: int) -> tuple[str, ...]:
    """From any replica, and from the leader."""
    names = [f"KV_{bucket}-{index}" for bucket in buckets for index in range(shards)]
    return (
        *(f"$JS.API.DIRECT.GET.{name}.>" for name in names),
        *(f"$JS.API.STREAM.MSG.GET.{name}" for name in names),
    )


def info_subject(stream: str) -> str:
    """Asks how large a stream or bucket is."""
    return f"$JS.API.STREAM.INFO.{stream}"


def gateway_role(*, shards: int) -> Role:
    return Role(
        user=GATEWAY,
        publish=(
            f"{COMPUTE}.>",
            f"$SRV.*.{COMPUTE}",
            f"$SRV.*.{COMPUTE}.>",
            "feed.*",
            *_bucket_access(SESSION_STATES, RESULTS, FEEDS, shards=shards),
            *(f"$JS.API.DIRECT.GET.KV_{SESSION_STATES}-{index}" for index in range(shards)),
            *_reading(SESSION_KEYS, shards=KEY_BUCKETS),
            *(f"$JS.API.STREAM.MSG.DELETE.KV_{SESSION_KEYS}-{index}" for index in range(KEY_BUCKETS)),
            visits_subject("*"),
            ended_subject("*"),
        ),
        subscribe=(f"{inbox_of(GATEWAY)}.>", "feed.*"),
        answers=True,
    )


def dispatcher_role() -> Role:
    return Role(
        user=DISPATCHER,
        publish=(f"{COMPUTE}.>", f"$SRV.*.{COMPUTE}", f"$SRV.*.{COMPUTE}.>"),
        subscribe=(f"{inbox_of(DISPATCHER)}.>",),
    )


def recorder_role(*, shards: int) -> Role:
    """A recorder takes visits out of their stream, reads the states of sessions, and measures the buckets that fill."""
    measured = (VISITS, *(f"KV_{bucket}-{index}" for bucket in (SESSION_STATES, RESULTS) for index in range(shards)))
    return Role(
        user=RECORDER,
        publish=(
            f"$JS.API.CONSUMER.MSG.NEXT.{VISITS}.{RECORDER}",
            f"$JS.API.CONSUMER.INFO.{VISITS}.{RECORDER}",
            f"$JS.ACK.{VISITS}.{RECORDER}.>",
            *map(info_subject, measured),
            *_reading(SESSION_STATES, shards=shards),
            *_reading(SESSION_KEYS, shards=KEY_BUCKETS),
        ),
        subscribe=(f"{inbox_of(RECORDER)}.>",),
    )


def worker_role(pool: str, *, shards: int) -> Role:
    """The workers of a pool take jobs on its subjects, keep session states and publish visits; nothing else."""
    control = [
        f"$SRV.{verb}{rest}" for verb in ("PING", "INFO", "STATS") for rest in ("", f".{COMPUTE}", f".{COMPUTE}.*")
    ]
    return Role(
        user=pool,
        publish=(
            *_bucket_access(SESSION_STATES, shards=shards),
            *_bucket_access(SESSION_KEYS, shards=KEY_BUCKETS),
            visits_subject("*"),
        ),
        subscribe=(f"{inbox_of(pool)}.>", f"{COMPUTE}.{pool}.>", *control),
        answers=True,
    )


def setup_role() -> Role:
    """Creates and checks the buckets and the stream of visits. No process that runs has it."""
    return Role(
        user=SETUP,
        publish=(
            "$JS.API.INFO",
            "$JS.API.STREAM.>",
            f"$JS.API.CONSUMER.CREATE.{VISITS}.{RECORDER}",
            f"$JS.API.CONSUMER.INFO.{VISITS}.{RECORDER}",
        ),
        subscribe=(f"{inbox_of(SETUP)}.>",),
    )
