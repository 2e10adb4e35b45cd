"""A signing key that the server believes and a stranger has."""

import json
import time
from typing import Any

import jwt
import requests
from cryptography.hazmat.primitives.asymmetric import ec

from onlooker.proof.questions.forged_tokens import Forger
from onlooker.streams.bearer_tokens import REFETCH_EVERY_S
from testkit import Stack

KID = "known-to-the-server"


def new_forger(stack: Stack, tokens: tuple[str, str]) -> Forger:
    """Gives the server a key more to believe, and the time to learn of it; its private part stays here."""
    known, unknown = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    public: dict[str, Any] = jwt.algorithms.ECAlgorithm.to_jwk(known.public_key(), as_dict=True)
    jwk = public | {"kid": KID, "alg": "ES256", "use": "sig"}
    stack.execute(
        "INSERT INTO tokens_signingkey (kid, public_jwk, sealed_private_pem) VALUES (%s, %s, '')", KID, json.dumps(jwk)
    )
    answer = requests.get(f"{stack.console_url}/.well-known/jwks.json", verify=stack.ca_file, timeout=20)
    (published,) = [key for key in answer.json()["keys"] if key["kid"] == jwt.get_unverified_header(tokens[0])["kid"]]
    time.sleep(REFETCH_EVERY_S)  # until then, the server may refuse its tokens as a stranger's
    return Forger(KID, known, unknown, *tokens, published)
