"""Tokens that must open nothing: made up, changed, signed by others, too old, too early, for something else."""

import base64
import hmac
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from onlooker.proof.questions.parameters import PATHS, Scenario, question, target
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import CUT_OFF, RIGHT, DataRequest, Expected
from onlooker.proof.questions.wire import Header
from onlooker.streams.bearer_tokens import CLOCKS_DIFFER_S

MISSING: Expected = {401: ("missing_token",)}
INVALID: Expected = {401: ("invalid_jwt",)}
EXPIRED: Expected = {401: ("expired_jwt",)}
Private = ec.EllipticCurvePrivateKey
Maker = Callable[[random.Random], str]
CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.= "
_signer = jwt.PyJWS()
SHAPES = ("", ".", "..", "a.b.c", "....", "e30.e30.", "\xe9.\xe9.\xe9", "null", "undefined", "Bearer", "e30.e30.AAAA")


@dataclass(frozen=True)
class Forger:
    """Who has a key that the server believes, one that it does not, and what real tokens say."""

    kid: str
    known: Private
    """As if the server's own had leaked: what is refused then is refused for what it says, not for its signature."""
    unknown: Private
    token: str
    other_token: str
    """Of the other stream."""
    public_jwk: dict[str, Any]
    """The key that the console signs with, as everybody may read it."""

    @property
    def claims(self) -> dict[str, Any]:
        return read_claims(self.token)

    @property
    def other_claims(self) -> dict[str, Any]:
        return read_claims(self.other_token)

    def sign(self, claims: dict[str, Any]) -> str:
        """Whatever the claims are: the library itself would not sign all of them."""
        return _signer.encode(json.dumps(claims).encode(), self.known, algorithm="ES256", headers={"kid": self.kid})

    def changed(self, **claims: Any) -> str:
        return self.sign(self.claims | claims)

    def without(self, name: str) -> str:
        return self.sign({key: value for key, value in self.claims.items() if key != name})

    def unsigned(self, source: random.Random) -> str:
        algorithm = source.choice(["none", "None", "NONE", "nOnE", "", None, "ES256", "HS256"])
        kid = source.choice([self.kid, self.public_jwk["kid"]])
        signed = f"{encoded({'alg': algorithm, 'typ': 'JWT', 'kid': kid})}.{encoded(self.claims)}"
        return signed + source.choice([".", "", ".AAAA", "." + "A" * 86])

    def mac_of_public_key(self, source: random.Random) -> str:
        """The public key taken for a shared secret."""
        public = jwt.PyJWK(self.public_jwk).key
        pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        secret = source.choice([pem, pem.strip(), der, json.dumps(self.public_jwk).encode(), b""])
        signed = f"{encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': self.public_jwk['kid']})}.{encoded(self.claims)}"
        return f"{signed}.{text_of(hmac.digest(secret, signed.encode(), 'sha256'))}"

    def by_another_key(self, source: random.Random) -> str:
        """Under our kid; also with the key in the header, for a server that trusts it."""
        own: dict[str, Any] = jwt.algorithms.ECAlgorithm.to_jwk(self.unknown.public_key(), as_dict=True)
        extra: dict[str, Any] = source.choice(
            [{}, {"jwk": own}, {"jku": "https://evil.example.org/jwks"}, {"x5u": "file:///etc"}]
        )
        headers = {"kid": source.choice([self.kid, self.public_jwk["kid"]]), **extra}
        return jwt.encode(self.claims, self.unknown, algorithm="ES256", headers=headers)

    def with_strange_kid(self, source: random.Random) -> str:
        kids = ("", "x" * 1000, "../../etc/passwd", "' OR 1=1--", "\0", 5, None, ["a"], {"a": 1}, True, "☃")
        header = {"alg": "ES256", "typ": "JWT", "kid": source.choice(kids)}
        return f"{encoded(header)}.{encoded(self.claims)}.{self.token.rpartition('.')[2]}"

    def for_another_stream(self, source: random.Random) -> str:
        """Half of it another stream's: the credential of one with the name of the other."""
        name = source.choice(["client_id", "credential"])
        return self.changed(**{name: self.other_claims[name]})

    def for_something_else(self, source: random.Random) -> str:
        wrong: dict[str, tuple[Any, ...]] = {
            "aud": ("another-audience", "", [], ["a"], None, {"a": 1}, 5),
            "iss": ("https://evil.example.org", "", None, ["a"], self.claims["iss"] + "/"),
            "user_id": (987_654_321, "1", None, True, -1, 2**70, 1.5, [1]),
            "credential": (987_654_321, None, "1 OR 1=1", -1, 2**70, {}),
            "client_id": ("no uuid", None, 5, "0" * 32, "' OR 1=1--", []),
        }
        name, value = source.choice([(name, value) for name, values in wrong.items() for value in values])
        return self.changed(**{name: value})

    def too_early(self, source: random.Random) -> str:
        ahead = int(time.time()) + CLOCKS_DIFFER_S + source.choice([10, 3600, 10**9])
        return self.changed(**{source.choice(["nbf", "iat"]): ahead})

    def too_late(self, source: random.Random) -> str:
        """From one second beyond what clocks may differ."""
        return self.changed(exp=int(time.time()) - source.choice([1, 2, 3600, 10**9]))

    def with_strange_times(self, source: random.Random) -> str:
        values: list[Any] = ["soon", None, [], {}, 1e400, -1e400]
        return self.changed(**{source.choice(["exp", "iat", "nbf"]): source.choice(values)})

    def lacking(self, source: random.Random) -> str:
        names = ("iss", "aud", "exp", "iat", "user_id", "client_id", "credential", "username")
        return self.without(source.choice(names))

    def tampered(self, source: random.Random) -> str:
        """One character is another one, and means other bytes."""
        while True:
            place, character = source.randrange(len(self.token)), source.choice(CHARACTERS[:-2])
            changed = self.token[:place] + character + self.token[place + 1 :]
            if decoded(changed) != decoded(self.token):
                return changed

    def mixed(self, source: random.Random) -> str:
        """The head, the claims and the signature of different tokens."""
        head, _, signature = self.token.split(".")
        return f"{head}.{encoded(source.choice([self.other_claims, self.claims | {'exp': 2**40}]))}.{signature}"

    def shapeless(self, source: random.Random) -> str:
        nested = text_of(b"[" * 2900) + ".e30."
        twice = f"{self.token}.{self.token}"
        return str(source.choice([*SHAPES, nested, "A" * 5000, "A" * 40_000, self.token[:-5], twice]))


def read_claims(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


def encoded(value: object) -> str:
    return text_of(json.dumps(value).encode())


def text_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(token: str) -> list[bytes] | None:
    """The bytes that a token stands for: several texts may stand for the same."""
    try:
        return [base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in token.split(".")]
    except ValueError:
        return None


def show(family: str, headers: list[Header], *, expected: Expected) -> Scenario:
    """A right question with these headers instead of a right token."""

    def send(source: random.Random, reader: QuestionSender) -> None:
        asked = target(question(reader), source.choice(PATHS))
        reader.send(DataRequest(family, f"GET {str(headers)[:200]}", expected), asked, headers)

    return send


def forged(name: str, make: Maker, expected: Expected) -> Scenario:
    def send(source: random.Random, reader: QuestionSender) -> None:
        headers: list[Header] = [("Authorization", f"Bearer {make(source)}")]
        show(name, headers, expected=expected)(source, reader)

    return send


def no_token(forger: Forger) -> Scenario:
    """Where a token is not looked for, or what is none."""
    basic = base64.b64encode(b"owner@example.org:secret").decode()
    lines: list[Header] = [
        *(("Authorization", text) for text in ("", "Bearer", "Bearer ", f"Basic {basic}", f"JWT {forger.token}")),
        *(("Authorization", text) for text in (forger.token, f"Bearer,{forger.token}")),
        *(("Cookie", f"token={forger.token}"), ("X-Authorization", f"Bearer {forger.token}")),
    ]
    choices: list[list[Header]] = [[], *([line] for line in lines)]

    def send(source: random.Random, reader: QuestionSender) -> None:
        show("no token", source.choice(choices), expected=MISSING)(source, reader)

    return send


def in_the_query(source: random.Random, reader: QuestionSender) -> None:
    name = source.choice(["token", "access_token", "jwt", "authorization"])
    asked = target(question(reader, **{name: reader.tokens[0]}))
    reader.send(DataRequest("no token", f"GET ?{name}=", MISSING), asked, [])


def enormous(source: random.Random, reader: QuestionSender) -> None:
    length = source.choice([70_000, 1_000_000])
    header: Header = ("Authorization", "Bearer " + source.choice(["A", "A.", "."]) * length)
    expected = {**CUT_OFF, **INVALID}
    reader.send(DataRequest("large tokens", f"GET Bearer {length}", expected), target(question(reader)), [header])


def controls(forger: Forger) -> Scenario:
    """What must be let in: else the refusals would say nothing."""

    def send(source: random.Random, reader: QuestionSender) -> None:
        token = source.choice([forger.sign(forger.claims), forger.changed(nbf=int(time.time())), forger.token])
        scheme = source.choice(["Bearer", "bearer", "BEARER", "Bearer "])
        asked = DataRequest("right tokens", f"GET {scheme}", RIGHT, reader.streams[0])
        reader.send(asked, target(question(reader)), [("Authorization", f"{scheme} {token}")])

    return send


def forged_scenarios(forger: Forger) -> dict[str, Scenario]:
    invalid: tuple[Maker, ...] = (
        *(forger.unsigned, forger.mac_of_public_key, forger.by_another_key, forger.with_strange_kid, forger.mixed),
        *(forger.for_another_stream, forger.for_something_else, forger.too_early, forger.with_strange_times),
        *(forger.lacking, forger.tampered),
    )
    return {
        **{make.__name__: forged(make.__name__.replace("_", " "), make, INVALID) for make in invalid},
        "too_late": forged("too late", forger.too_late, EXPIRED),
        "shapeless": forged("shapeless", forger.shapeless, {401: ("invalid_jwt", "missing_token"), **CUT_OFF}),
        "no_token": no_token(forger),
        "in_the_query": in_the_query,
        "enormous": enormous,
        "controls": controls(forger),
    }
