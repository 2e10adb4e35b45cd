"""Tables of signing keys and of failed tries to get a token."""

from django.db import models
from django.db.models.functions import Now


class SigningKey(models.Model):
    """A key that tokens are signed with; its public part is for everybody, its private part is sealed."""

    id = models.BigAutoField(primary_key=True)
    kid = models.CharField(max_length=43, unique=True)
    """The thumbprint of its public part (RFC 7638)."""
    public_jwk = models.JSONField()
    sealed_private_pem = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    retires_at = models.DateTimeField(null=True)
    """From then on it verifies nothing; nobody knows yet for the one that signs."""

    def __str__(self) -> str:
        return self.kid


class Failure(models.Model):
    """Somebody at an address gave wrong credentials; kept for the minute it counts."""

    id = models.BigAutoField(primary_key=True)
    username_sha256 = models.BinaryField(max_length=32)
    address = models.GenericIPAddressField()
    """Of an IPv6 address the network: whoever has one address there has all of them."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["address", "at"], name="failures_of_address"),
            models.Index(fields=["at"], name="failures_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.address} at {self.at:%H:%M:%S}"
