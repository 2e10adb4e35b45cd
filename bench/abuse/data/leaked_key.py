"""A signing key that the server believes and a stranger has."""

import json
from typing import Any

import jwt
import requests
from cryptography.hazmat.primitives.asymmetric import ec

from onlooker.proof.questions.forged_tokens import Forger
from testkit import Stack

KID = "known-to-the-server"


def new_forger(stack: Stack, tokens: tuple[str, str]) -> Forger:
    """Gives the server a key more to believe; its private part stays here."""
    known, unknown = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    public: dict[str, Any] = jwt.algorithms.ECAlgorithm.to_jwk(known.public_key(), as_dict=True)
    jwk = public | {"kid": KID, "alg": "ES256", "use": "sig"}
    stack.execute(
        "INSERT INTO tokens_signingkey (kid, public_jwk, sealed_private_pem) VALUES (%s, %s, '')", KID, json.dumps(jwk)
    )
    answer = requests.get(f"{stack.console_url}/.well-known/jwks.json", verify=stack.ca_file, timeout=20)
    (published,) = [key for key in answer.json()["keys"] if key["kid"] == jwt.get_unverified_header(tokens[0])["kid"]]
    return Forger(KID, known, unknown, *tokens, published)
