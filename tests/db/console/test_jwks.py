"""The public keys, and the document of all JSON routes."""

import msgspec
import pytest

from onlooker.console.tokens.signing_keys import jwk_thumbprint, rotate_keys
from token_requests import program

pytest_plugins = ["pages", "cameras"]
PATH = "/.well-known/jwks.json"


def test_keys_are_public_cacheable_and_readable_from_any_origin(db: None) -> None:
    answer = program().get(PATH)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")
    assert answer["Cache-Control"] == "public, max-age=60"
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert not answer.cookies
    (key,) = answer.json()["keys"]
    assert set(key) == {"kty", "crv", "x", "y", "kid", "alg", "use"}
    assert key["kid"] == jwk_thumbprint(key)


def test_the_thumbprint_is_that_of_the_standard() -> None:
    """The key of RFC 7517, A.1; its canonical form was written by hand and hashed with openssl."""
    key = {
        "kty": "EC",
        "crv": "P-256",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
        "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    }
    assert jwk_thumbprint(key) == "cn-I_WNMClehiVp51i_0VpOENW1upEerA8sEam5hn-s"


def test_unchanged_keys_are_not_sent_again(db: None) -> None:
    client = program()
    etag = client.get(PATH)["ETag"]
    again = client.get(PATH, headers={"if-none-match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert again["Cache-Control"] == "public, max-age=60"
    rotate_keys()
    changed = client.get(PATH, headers={"if-none-match": etag})
    assert (changed.status_code, len(changed.json()["keys"])) == (200, 2)


@pytest.mark.parametrize("path", [PATH, "/openapi.json"])
def test_they_can_only_be_read(db: None, path: str) -> None:
    answer = program().post(path)
    assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert answer.json()["code"] == "method_not_allowed"


def test_the_document_has_every_json_route_that_is_served(db: None) -> None:
    document = program().get("/openapi.json").json()
    assert document["openapi"] == "3.1.0"
    assert document["servers"] == [{"url": "https://console.example.org"}]
    assert set(document["paths"]) == {
        "/api-token-authstream/",
        "/api-token-authstream",
        "/.well-known/jwks.json",
        "/devices/configuration/",
        "/devices/credential/",
        "/devices/enrol/",
        "/devices/health/",
        "/openapi.json",
        "/livez",
        "/readyz",
    }
    for path, operations in document["paths"].items():
        for method in operations:
            assert getattr(program(), method)(path).status_code not in (404, 405), path


def test_the_webhook_is_in_the_document_only_where_there_is_billing(db: None, settings) -> None:
    assert "/billing/webhook/" not in program().get("/openapi.json").json()["paths"]
    settings.ONLOOKER = msgspec.structs.replace(settings.ONLOOKER, stripe_secret_key="sk_test_nobody")
    assert "/billing/webhook/" in program().get("/openapi.json").json()["paths"]
