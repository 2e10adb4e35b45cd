"""A worker may do on the bus what a worker must, and nothing else."""

import asyncio

import pytest
from nats.aio.client import Client

from onlooker.bus.roles import Role, dispatcher_role, gateway_role, inbox_of, recorder_role, setup_role, worker_role
from testkit import Stack

FORBIDDEN_TO_PUBLISH = [
    "compute.worker-2.x.dummy.1",
    "compute.worker-1.x.dummy.1",
    "$KV.results-0.1.x",
    "$KV.session-results-0.1.x",
    "$KV.feeds-0.1.x",
    "$JS.API.DIRECT.GET.KV_results-0.$KV.results-0.1.x",
    "$JS.API.DIRECT.GET.KV_session-results-0.$KV.session-results-0.1.x",
    "$JS.API.STREAM.CREATE.mine",
    "$JS.API.STREAM.DELETE.KV_session-states-0",
    "$JS.API.STREAM.PURGE.KV_session-states-0",
    "$JS.API.STREAM.INFO.KV_session-states-0",
    "$JS.API.STREAM.MSG.DELETE.KV_session-states-0",
    "$JS.API.STREAM.MSG.DELETE.KV_session-keys-0",
    "$JS.API.STREAM.NAMES",
    "$JS.API.STREAM.MSG.GET.KV_results-0",
    "$JS.API.CONSUMER.CREATE.KV_results-0",
    "$JS.API.INFO",
    "$SRV.PING",
    "$SRV.INFO.compute",
    "$SYS.REQ.SERVER.PING",
    "feed.0123",
    "ended.1",
    "visits.1.more",
    "$JS.API.CONSUMER.MSG.NEXT.VISITS.recorder",
    "$JS.API.CONSUMER.CREATE.VISITS.mine",
    "$JS.API.STREAM.MSG.GET.VISITS",
    "$JS.API.DIRECT.GET.VISITS",
    "$JS.ACK.VISITS.recorder.1.1.1.1.0",
    f"{inbox_of('gateway')}.x.1",
    f"{inbox_of('worker-2')}.x.1",
    "anything",
]
FORBIDDEN_TO_SUBSCRIBE = [
    ">",
    "compute.>",
    "compute.*.*.dummy.1",
    "compute.worker-2.>",
    "$KV.>",
    "$KV.session-states-0.>",
    "$KV.results-0.>",
    "$JS.>",
    "$SYS.>",
    "feed.*",
    "_INBOX.>",
    f"{inbox_of('gateway')}.>",
    f"{inbox_of('worker-2')}.>",
]


async def violations(stack: Stack, user: str, *, publish: list[str], subscribe: list[str]) -> set[str]:
    """The subjects that the real server refuses to a user."""
    refused: set[str] = set()

    async def note(error: Exception) -> None:
        if "permissions violation" in str(error).lower():
            refused.add(str(error).lower().split('"')[1])

    client = Client()
    await client.connect(
        stack.setting("nats_url"),
        user=user,
        password=stack.password(user),
        inbox_prefix=inbox_of(user),
        allow_reconnect=False,
        error_cb=note,
    )
    for subject in publish:
        await client.publish(subject, b"{}")
    for subject in subscribe:
        await client.subscribe(subject)
    await client.flush()
    await asyncio.sleep(0.3)
    await client.close()
    return refused


def test_each_forbidden_subject_is_refused_to_a_worker(stack: Stack) -> None:
    refused = asyncio.run(violations(stack, "worker-1", publish=FORBIDDEN_TO_PUBLISH, subscribe=FORBIDDEN_TO_SUBSCRIBE))
    assert refused == {subject.lower() for subject in FORBIDDEN_TO_PUBLISH + FORBIDDEN_TO_SUBSCRIBE}


def test_what_a_worker_must_do_it_may(stack: Stack) -> None:
    role = worker_role("worker-1", shards=1)
    publish = [subject.replace(">", "x.y") for subject in role.publish]
    assert asyncio.run(violations(stack, "worker-1", publish=publish, subscribe=list(role.subscribe))) == set()


OTHER_ROLES = [
    gateway_role(shards=1),
    dispatcher_role(),
    recorder_role(shards=1),
    setup_role(),
    worker_role("worker-2", shards=1),
]


@pytest.mark.parametrize("role", OTHER_ROLES, ids=lambda role: role.user)
def test_a_worker_may_do_nothing_that_only_another_role_may(stack: Stack, role: Role) -> None:
    """So that a subject given to another role later is covered without anybody remembering it."""
    own = worker_role("worker-1", shards=1)
    publish = [subject for subject in role.publish if subject not in own.publish]
    subscribe = [subject for subject in role.subscribe if subject not in own.subscribe]
    concrete = [subject.replace("*", "x").replace(">", "x") for subject in publish]
    refused = asyncio.run(violations(stack, "worker-1", publish=concrete, subscribe=subscribe))
    assert refused == {subject.lower() for subject in concrete + subscribe}


def test_a_recorder_may_take_visits_and_read_sessions_and_nothing_else(stack: Stack) -> None:
    own = recorder_role(shards=1)
    allowed = [subject.replace(">", "x") for subject in own.publish if not subject.startswith("$JS.ACK")]
    forbidden = [
        "visits.1",
        "ended.1",
        "compute.worker-1.x.dummy.1",
        "$KV.session-states-0.1.x",
        "$KV.session-keys-0.x",
        "$JS.API.STREAM.MSG.DELETE.KV_session-keys-0",
        "$JS.API.DIRECT.GET.KV_results-0.$KV.results-0.1.x",
        "$JS.API.CONSUMER.CREATE.VISITS.recorder",
        "$JS.API.CONSUMER.DELETE.VISITS.recorder",
        "$JS.API.CONSUMER.MSG.NEXT.VISITS.other",
        "$JS.API.STREAM.PURGE.VISITS",
        "$JS.API.STREAM.DELETE.VISITS",
        "$JS.API.STREAM.INFO.KV_session-keys-0",
        "$JS.API.STREAM.INFO.KV_feeds-0",
        "$JS.API.STREAM.UPDATE.KV_results-0",
        "$JS.ACK.VISITS.other.1",
    ]
    subscribe = ["visits.*", "ended.*", "$KV.session-states-0.>", f"{inbox_of('gateway')}.>", ">"]
    refused = asyncio.run(violations(stack, "recorder", publish=allowed + forbidden, subscribe=subscribe))
    assert refused == {subject.lower() for subject in forbidden + subscribe}


def test_nobody_comes_in_without_a_password(stack: Stack) -> None:
    async def come_in() -> None:
        client = Client()
        try:
            await client.connect(stack.setting("nats_url"), allow_reconnect=False)
        finally:
            await client.close()
            if client._transport:
                client._transport.close()

    with pytest.raises(Exception, match="Authorization"):
        asyncio.run(come_in())
