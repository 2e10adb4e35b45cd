"""The token endpoint: who gets a token, what is in it, and that every refusal is the same."""

import gzip
import json
import time
from datetime import timedelta

import jwt
import psycopg
import pytest
from allauth.account.models import EmailAddress
from django.db import connection
from django.utils import timezone

from bearer_tokens import database_url
from memberships import share_stream, viewers
from onlooker.console.accounts.models import Account
from onlooker.console.tokens.models import SigningKey
from onlooker.streams.administration import account_of, create_stream, remove_stream, rotate_access_token
from onlooker.streams.models import AccessToken, Stream
from token_requests import PATH, Camera, ask, get_token, program

pytest_plugins = ["pages", "cameras"]


def refuse(body: object) -> bytes:
    answer = ask(body)
    assert answer.status_code == 401, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    return bytes(answer.content)


def test_an_owner_gets_a_token_that_the_published_key_verifies(camera: Camera, owner: Account) -> None:
    before = int(time.time())
    answer = ask(camera.body())
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert answer["Cache-Control"] == "no-store"
    assert list(answer.json()) == ["token"]
    token = answer.json()["token"]
    header = jwt.get_unverified_header(token)
    published = {key["kid"]: key for key in program().get("/.well-known/jwks.json").json()["keys"]}
    assert (header["alg"], header["typ"]) == ("ES256", "JWT")
    claims = jwt.decode(
        token,
        jwt.PyJWK(published[header["kid"]]),
        algorithms=["ES256"],
        audience="onlooker-data",
        issuer="https://console.example.org",
    )
    assert claims["username"] == "owner@example.org"
    assert "email" not in claims, "the address is in a token once"
    assert claims["client_id"] == str(camera.stream.client_id)
    assert claims["user_id"] == owner.pk
    assert claims["credential"] == AccessToken.objects.get(stream=camera.stream).pk
    assert claims["exp"] - claims["iat"] == 5 * 3600
    assert claims["orig_iat"] == claims["iat"]
    assert before <= claims["iat"] <= time.time()


@pytest.mark.parametrize("path", [PATH, PATH.rstrip("/")])
def test_the_path_answers_with_and_without_its_slash(camera: Camera, path: str) -> None:
    assert ask(camera.body(), path=path).status_code == 200


def test_a_username_is_the_same_in_any_case(camera: Camera) -> None:
    assert get_token(camera, "OWNER@Example.ORG")


def test_unknown_members_of_the_body_are_ignored(camera: Camera) -> None:
    assert ask(camera.body(grant_type="password", nested=[1, {"a": None}])).status_code == 200


def test_a_member_gets_a_token_until_the_membership_ends(camera: Camera, viewer: Account) -> None:
    refuse(camera.body("viewer@example.org"))
    share_stream(camera.stream, viewer)
    token = get_token(camera, "viewer@example.org")
    assert jwt.decode(token, options={"verify_signature": False})["user_id"] == viewer.pk
    viewers().delete()
    refuse(camera.body("viewer@example.org"))


def test_a_disabled_stream_still_gets_tokens(camera: Camera) -> None:
    Stream.objects.update(enabled=False)
    assert get_token(camera)


def test_both_access_tokens_work_in_the_grace_and_only_the_new_one_after_it(camera: Camera) -> None:
    new = rotate_access_token(camera.stream, grace=timedelta(hours=1))
    old_claims, new_claims = (
        jwt.decode(ask(camera.body(access_token=given)).json()["token"], options={"verify_signature": False})
        for given in (camera.access_token, new)
    )
    assert old_claims["credential"] != new_claims["credential"]
    AccessToken.objects.filter(pk=old_claims["credential"]).update(expires_at=timezone.now())
    refuse(camera.body())
    assert ask(camera.body(access_token=new)).status_code == 200


def test_every_wrong_credential_gets_one_and_the_same_answer(camera: Camera, owner: Account, stranger: Account) -> None:
    other = create_stream("window", owner=stranger, kind="developer")
    wrong = [
        camera.body("nobody@example.org"),
        camera.body("stranger@example.org"),
        camera.body("owner@example.org\0"),
        camera.body("x" * 10_000),
        camera.body(access_token="wrong"),
        camera.body(access_token=other.access_token),
        camera.body(client_id=str(other.stream.client_id)),
        camera.body(client_id="no uuid"),
        camera.body(client_id="00000000-0000-0000-0000-000000000000"),
    ]
    bodies = {ask(body, address=f"203.0.113.{number}").content for number, body in enumerate(wrong)}
    assert len(bodies) == 1
    body = json.loads(bodies.pop())
    assert body["code"] == "bad_credentials"
    assert body["non_field_errors"] == ["The username, the client_id or the access_token is wrong."]
    assert not {"username", "client_id", "access_token"} & set(body)


@pytest.mark.parametrize("change", ["inactive", "unverified", "removed"])
def test_who_lost_what_it_takes_is_refused(camera: Camera, owner: Account, change: str) -> None:
    if change == "inactive":
        Account.objects.update(is_active=False)
    elif change == "unverified":
        EmailAddress.objects.update(verified=False)
    else:
        remove_stream(camera.stream)
    refuse(camera.body())


def test_another_verified_address_does_not_vouch_for_an_unverified_one(camera: Camera, owner: Account) -> None:
    EmailAddress.objects.update(verified=False)
    EmailAddress.objects.create(user=owner, email="second@example.org", verified=True)
    refuse(camera.body())
    refuse(camera.body("second@example.org"))


def test_an_account_that_an_operator_made_needs_no_verification(db: None) -> None:
    made = create_stream("door", owner=account_of("Operator@Example.org"), kind="developer")
    assert get_token(Camera(made.stream, made.access_token), "operator@example.org")


def test_asking_to_change_the_address_takes_no_tokens_away(db: None) -> None:
    account = account_of("operator@example.org")
    made = create_stream("door", owner=account, kind="developer")
    EmailAddress.objects.create(user=account, email="new@example.org", verified=False)
    camera = Camera(made.stream, made.access_token)
    assert get_token(camera, "operator@example.org")
    refuse(camera.body("new@example.org"))


def test_nothing_secret_is_stored_in_clear(camera: Camera) -> None:
    token = get_token(camera)
    stored = str(SigningKey.objects.values().get())
    assert "PRIVATE" not in stored
    assert token.rpartition(".")[2] not in stored


BROKEN = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"{}",
    b'{"username": "a", "client_id": "b"}',
    b'{"username": 1, "client_id": "b", "access_token": "c"}',
    b'{"username": "a", "client_id": null, "access_token": "c"}',
    b'{"username": "\xff", "client_id": "b", "access_token": "c"}',
    b'{"username": "\\ud800", "client_id": "b", "access_token": "c"}',
    b'{"username": "a", "client_id": "b", "access_token": "c"} x',
    b'{"deep": ' + b"[" * 100_000,
]


@pytest.mark.parametrize("body", BROKEN, ids=range(len(BROKEN)))
def test_what_is_no_right_object_is_a_bad_request(db: None, body: bytes) -> None:
    answer = program().generic("POST", PATH, body, CONTENT_TYPE="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")


WRONG_FIELDS = [
    ({}, ["username", "client_id", "access_token"]),
    ({"username": "a", "client_id": "b"}, ["access_token"]),
    ({"username": 1, "client_id": "b", "access_token": "c"}, ["username"]),
    ({"username": "a", "client_id": None, "access_token": ["c"]}, ["client_id", "access_token"]),
    ({"username": "", "client_id": "b", "access_token": ""}, ["username", "access_token"]),
]


@pytest.mark.parametrize(("body", "named"), WRONG_FIELDS, ids=range(len(WRONG_FIELDS)))
def test_a_wrong_field_is_named_as_a_member_of_the_problem(db: None, body: object, named: list[str]) -> None:
    """A wrong field is also named as a member of the problem body, each a list of sentences."""
    answer = program().generic("POST", PATH, json.dumps(body).encode(), CONTENT_TYPE="application/json")
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "bad_request")
    members = {"username", "client_id", "access_token", "non_field_errors"} & set(problem)
    assert members == set(named)
    for name in named:
        assert [sentence for sentence in problem[name] if name in sentence] == problem[name]
        assert len(problem[name]) == 1


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null"])
def test_a_body_without_fields_is_wrong_as_a_whole(db: None, body: bytes) -> None:
    """... else `non_field_errors`."""
    problem = program().generic("POST", PATH, body, CONTENT_TYPE="application/json").json()
    assert problem["non_field_errors"] == [problem["detail"]]


def test_a_byte_order_mark_before_the_json_does_no_harm(camera: Camera) -> None:
    body = b"\xef\xbb\xbf" + json.dumps(camera.body()).encode()
    assert program().generic("POST", PATH, body, CONTENT_TYPE="application/json").status_code == 200


def test_a_compressed_body_is_refused_with_the_remedy(camera: Camera) -> None:
    body = json.dumps(camera.body()).encode()
    headers = {"CONTENT_TYPE": "application/json", "HTTP_CONTENT_ENCODING": "gzip"}
    problem = program().generic("POST", PATH, gzip.compress(body), **headers).json()
    assert (problem["status"], problem["code"]) == (415, "unsupported_media_type")
    assert "uncompressed" in problem["detail"]
    headers["HTTP_CONTENT_ENCODING"] = "identity"
    assert program().generic("POST", PATH, body, **headers).status_code == 200


def test_a_bad_request_does_not_repeat_what_was_sent(db: None) -> None:
    body = {"username": "owner@example.org", "client_id": 5, "access_token": "a secret"}
    assert b"a secret" not in ask(body).content


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded", "application/problem+json"])
def test_another_media_type_is_refused(db: None, kind: str) -> None:
    answer = program().generic("POST", PATH, b"{}", content_type=kind)
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_a_media_type_may_have_parameters_and_any_case(camera: Camera) -> None:
    answer = program().post(PATH, json.dumps(camera.body()), content_type="Application/JSON; charset=utf-8")
    assert answer.status_code == 200


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_only_post_is_allowed(db: None, method: str) -> None:
    answer = program().generic(method, PATH)
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.django_db(transaction=True)
def test_a_database_that_does_not_answer_is_a_problem_to_try_again_after(camera: Camera) -> None:
    """Another connection holds what the endpoint needs, for longer than this one waits."""
    with psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE tokens_failure IN ACCESS EXCLUSIVE MODE")
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        answer = ask(camera.body())
        connection.close()
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["code"] == "overloaded"


def test_cookies_are_not_looked_at(camera: Camera, sign_in, stranger: Account) -> None:
    browser = sign_in(stranger)
    answer = browser.post(PATH, camera.body(access_token="wrong"), content_type="application/json")
    assert answer.status_code == 401
    assert not answer.cookies
