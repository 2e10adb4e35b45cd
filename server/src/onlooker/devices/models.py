"""Tables of devices: templates, enrolment codes, boxes, and the credentials that are bound to a box."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

MOST_DEVICES = 1000
"""Of one code."""


class DeviceTemplate(models.Model):
    """What a device that enrols begins with: the settings of its stream, and its camera."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(
        "streams.Organisation", on_delete=models.CASCADE, related_name="device_templates", db_index=False
    )
    name = models.CharField(max_length=80)
    settings = models.JSONField(default=dict)
    """Of the stream, by column."""
    notice_given_at = models.DateTimeField(null=True)
    """When somebody said that the people in front of these cameras are told."""
    source = models.CharField(max_length=200, blank=True, default="0")
    """Camera of the agent."""
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "name"], name="one_template_per_name")]

    def __str__(self) -> str:
        return self.name


class EnrolmentCode(models.Model):
    """Lets so many devices enrol until it expires. The code itself is shown once and never stored."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey("streams.Organisation", on_delete=models.CASCADE, related_name="enrolment_codes")
    site = models.ForeignKey("streams.Site", null=True, on_delete=models.CASCADE, related_name="enrolment_codes")
    """Where the streams stand that its devices create."""
    template = models.ForeignKey(DeviceTemplate, null=True, on_delete=models.CASCADE, related_name="codes")
    stream = models.ForeignKey("streams.Stream", null=True, on_delete=models.CASCADE, related_name="enrolment_codes")
    """The stream that its device takes over; NULL: each device creates one."""
    hashed = models.BinaryField(max_length=32, unique=True)
    """HMAC-SHA-256 with the secret key: a copy of the database alone does not let anybody try codes."""
    beginning = models.CharField(max_length=4)
    """Its first characters, by which people tell codes apart."""
    devices_at_most = models.PositiveSmallIntegerField()
    devices = models.PositiveSmallIntegerField(default=0)
    """How many have enrolled with it."""
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="enrolment_codes"
    )
    """NULL: at the command line, or by an account that is gone."""
    ended_at = models.DateTimeField(null=True)
    """When somebody ended it early."""

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(template__isnull=False) ^ models.Q(stream__isnull=False),
                name="code_creates_or_replaces",
            ),
            models.CheckConstraint(
                condition=models.Q(devices_at_most__range=(1, MOST_DEVICES))
                & models.Q(devices__lte=models.F("devices_at_most")),
                name="code_devices_in_range",
            ),
        ]

    def __str__(self) -> str:
        return f"code {self.pk} ({self.beginning}...)"


class Device(models.Model):
    """A box with an agent. It sends for one stream, which outlives it."""

    id = models.BigAutoField(primary_key=True)
    device_id = models.UUIDField(default=uuid.uuid4, unique=True)
    stream = models.ForeignKey("streams.Stream", on_delete=models.CASCADE, related_name="devices")
    code = models.ForeignKey(EnrolmentCode, null=True, on_delete=models.SET_NULL, related_name="enrolled")
    key_sha256 = models.BinaryField(max_length=32, unique=True)
    """Of the key that the device made by itself and keeps."""
    name = models.CharField(max_length=100, blank=True)
    """Its host name, as it says."""
    machine = models.CharField(max_length=100, blank=True)
    version = models.CharField(max_length=40, blank=True)
    """Of its agent, as it last said to the console."""
    enrolled_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    """When it last asked the console for a credential."""
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["revoked_at"], name="device_revoked", condition=models.Q(revoked_at__isnull=False))
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["stream"], name="one_device_per_stream", condition=models.Q(revoked_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return self.name or str(self.device_id)


class DeviceCredential(models.Model):
    """Binds an access token to the device that got it: it ends with the device."""

    access_token = models.OneToOneField(
        "streams.AccessToken", primary_key=True, on_delete=models.CASCADE, related_name="device_credential"
    )
    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="credentials")

    def __str__(self) -> str:
        return f"token {self.access_token_id} of {self.device_id}"
