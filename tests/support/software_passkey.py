"""A passkey in software: answers what a browser with an authenticator would answer, or lies as it is told."""

import secrets
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

ORIGIN = "https://console.example.org"
FLAG = AuthenticatorData.FLAG


@dataclass
class SoftwarePasskey:
    """One key of one account at one console."""

    rp_id: str = "console.example.org"
    origin: str = ORIGIN
    verifies: bool = True
    """Whether it says that it checked a fingerprint or a PIN."""
    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(SECP256R1()))
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(16))
    user_handle: str = ""

    def create(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.create` gives for the page's options."""
        self.user_handle = options["user"]["id"]
        public = ES256.from_cryptography_key(self.key.public_key())
        attested = AttestedCredentialData.create(bytes(16), self.credential_id, public)
        data = AuthenticatorData.create(sha256(self.rp_id.encode()), self._flags() | FLAG.AT, 0, attested)
        client_data = self._client_data(CollectedClientData.TYPE.CREATE, options)
        attestation = AttestationObject.create("none", data, {})
        return self._answer(clientDataJSON=client_data, attestationObject=attestation)

    def use(self, options: dict[str, Any]) -> dict[str, Any]:
        """What `navigator.credentials.get` gives."""
        data = AuthenticatorData.create(sha256(self.rp_id.encode()), self._flags(), 0)
        client_data = self._client_data(CollectedClientData.TYPE.GET, options)
        signature = self.key.sign(data + client_data.hash, ECDSA(SHA256()))
        handle = websafe_decode(self.user_handle)
        return self._answer(clientDataJSON=client_data, authenticatorData=data, signature=signature, userHandle=handle)

    def _flags(self) -> Any:
        return FLAG.UP | (FLAG.UV if self.verifies else FLAG(0))

    def _client_data(self, kind: str, options: dict[str, Any]) -> CollectedClientData:
        return CollectedClientData.create(kind, options["challenge"], self.origin)

    def _answer(self, **parts: bytes) -> dict[str, Any]:
        name = websafe_encode(self.credential_id)
        return {
            "type": "public-key",
            "id": name,
            "rawId": name,
            "response": {part: websafe_encode(value) for part, value in parts.items()},
            "clientExtensionResults": {},
        }
