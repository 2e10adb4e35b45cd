"""A real gateway takes a key as a stream's Password, and refuses it within seconds of its end."""

from clients import client_of
from organisation_keys import insert_key, revoke
from testkit import Stack, TestStream
from wire import wait_for


def with_password(stream: TestStream, text: str) -> TestStream:
    return TestStream(stream.id, stream.client_id, text)


def test_a_key_opens_a_stream_until_it_is_revoked(stack: Stack) -> None:
    stream = stack.create_stream()
    key = insert_key(stack.execute, stream.id, "frames", reaches=stream.id)
    with client_of(stack, with_password(stream, key.text)) as program, client_of(stack, stream) as device:
        assert program.get("/services").status_code == 200
        assert program.get("/stream").json()["client_id"] == stream.client_id
        revoke(stack.execute, key)
        wait_for(lambda: program.get("/services").status_code, lambda status: status == 401, limit_s=5)
        assert device.get("/services").status_code == 200


def test_a_key_for_another_stream_or_without_the_scope_opens_nothing(stack: Stack) -> None:
    stream, other = stack.create_stream(), stack.create_stream()
    elsewhere = insert_key(stack.execute, stream.id, "frames", reaches=other.id)
    numbers = insert_key(stack.execute, stream.id, "numbers", "manage", "enrol")
    for key in (elsewhere, numbers):
        with client_of(stack, with_password(stream, key.text)) as program:
            answer = program.get("/services")
            assert (answer.status_code, answer.json()["code"]) == (401, "bad_credentials")
