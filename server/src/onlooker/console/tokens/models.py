"""Tables of signing keys and of failed attempts to get a token."""

from django.db import models
from django.db.models.functions import Now


class SigningKey(models.Model):
    """A key that signs tokens; its private part is encrypted."""

    id = models.BigAutoField(primary_key=True)
    kid = models.CharField(max_length=43, unique=True)
    """The thumbprint of its public part (RFC 7638)."""
    public_jwk = models.JSONField()
    sealed_private_pem = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    retires_at = models.DateTimeField(null=True)
    """When it stops verifying; unset for the key that signs."""

    def __str__(self) -> str:
        return self.kid


class Failure(models.Model):
    """An attempt with wrong credentials; kept for the minute it counts."""

    id = models.BigAutoField(primary_key=True)
    username_sha256 = models.BinaryField(max_length=32)
    address = models.GenericIPAddressField()
    """The network of an IPv6 address: one subscriber has all of it."""
    at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [
            models.Index(fields=["address", "at"], name="failures_of_address"),
            models.Index(fields=["at"], name="failures_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.address} at {self.at:%H:%M:%S}"
