"""Signatures are those of the Standard Webhooks specification, and the guide's receiver verifies them."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from doc_pages import ROOT, blocks_in
from onlooker.webhooks.signature import PREFIX, new_secret, sign, signed_headers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'
MESSAGE, MOMENT = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330


def test_the_specifications_vector() -> None:
    """As the reference libraries have it."""
    assert sign(SECRET, MESSAGE, MOMENT, BODY) == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_each_secret_signs() -> None:
    other = new_secret()
    headers = signed_headers([other, SECRET], MESSAGE, datetime.fromtimestamp(MOMENT, UTC), BODY)
    assert headers["webhook-id"] == MESSAGE
    assert headers["webhook-timestamp"] == str(MOMENT)
    signatures = headers["webhook-signature"].split(" ")
    assert signatures == [sign(other, MESSAGE, MOMENT, BODY), sign(SECRET, MESSAGE, MOMENT, BODY)]


def test_a_secret_is_random_and_as_long_as_the_specification_says() -> None:
    secrets = {new_secret() for _ in range(20)}
    assert len(secrets) == 20
    assert all(24 <= len(base64.b64decode(one.removeprefix(PREFIX))) <= 64 for one in secrets)


@pytest.mark.parametrize("wrong", ["whsec_", "whsec_c2hvcnQ=", "whsec_not base64!"])
def test_a_secret_that_is_none_does_not_sign(wrong: str) -> None:
    with pytest.raises(ValueError, match="secret of a webhook"):
        sign(wrong, MESSAGE, MOMENT, BODY)


@pytest.fixture(scope="module")
def verify() -> Any:
    """The function of the guide."""
    text = (ROOT / "docs/guides/webhooks.md").read_text(encoding="utf-8")
    (block,) = [one for one in blocks_in(text, "python") if "def verify" in one]
    names: dict[str, Any] = {}
    exec(compile(block, "docs/guides/webhooks.md", "exec"), names)
    return names["verify"]


def test_the_guides_receiver_accepts_what_we_sign_and_nothing_else(verify: Any) -> None:
    old, new = new_secret(), new_secret()
    headers = signed_headers([new, old], MESSAGE, datetime.now(UTC), BODY)
    for secret in (old, new):
        assert verify(secret, headers, BODY) == {"test": 2432232314}
    late = signed_headers([new], MESSAGE, datetime.fromtimestamp(MOMENT, UTC), BODY)
    wrong: list[tuple[str, dict[str, str], bytes]] = [
        (new_secret(), headers, BODY),
        (new, headers, BODY + b" "),
        (new, headers | {"webhook-id": "msg_other"}, BODY),
        (new, headers | {"webhook-signature": "v1,"}, BODY),
        (new, headers | {"webhook-signature": ""}, BODY),
        (new, headers | {"webhook-timestamp": "soon"}, BODY),
        (new, late, BODY),
    ]
    for secret, said, body in wrong:
        with pytest.raises(ValueError, match="webhook"):
            verify(secret, said, body)
