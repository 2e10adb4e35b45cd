"""Tables of devices: templates, codes, boxes and their credentials, settings, versions of those, and health."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

MOST_DEVICES = 1000
"""Of one code."""
NO_SETTINGS = models.Value({}, models.JSONField())


class ConfigurationState(models.TextChoices):
    """What a device made of a version."""

    NEW = "new"
    """It has not said anything of it."""
    TRYING = "trying"
    APPLIED = "applied"
    REFUSED = "refused"
    """It could not be applied."""
    ROLLED_BACK = "rolled_back"
    """It was applied, the device got worse, and took it back."""


FAILED_STATES = (ConfigurationState.REFUSED, ConfigurationState.ROLLED_BACK)


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
    """Camera that a device begins with; one that is set later is in `device_settings`."""
    device_settings = models.JSONField(default=dict, db_default=NO_SETTINGS)
    """Of the device, see `onlooker.devices.device_settings`."""
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
    template = models.ForeignKey(DeviceTemplate, null=True, on_delete=models.SET_NULL, related_name="devices")
    """Whose device settings it has: that of its code, or another that was chosen."""
    settings = models.JSONField(default=dict, db_default=NO_SETTINGS)
    """Of this device alone."""

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


class SiteDeviceSettings(models.Model):
    """What the devices at a site are set to; a device's own settings go before."""

    site = models.OneToOneField(
        "streams.Site", primary_key=True, on_delete=models.CASCADE, related_name="device_settings"
    )
    settings = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"device settings of site {self.site_id}"


class DeviceConfiguration(models.Model):
    """A version of what a device is set to. The newest is offered, unless the device could not live with it."""

    pk = models.CompositePrimaryKey("device_id", "version")
    device = models.ForeignKey(Device, on_delete=models.DO_NOTHING, related_name="configurations", db_index=False)
    version = models.IntegerField()
    settings = models.JSONField()
    etag = models.CharField(max_length=24)
    """The version and a hash of the settings."""
    level = models.CharField(max_length=10)
    """Where the change was: enrolment, template, site, device, stream; or offered again."""
    by = models.TextField()
    """Who, as in the audit log."""
    created_at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=12, choices=ConfigurationState.choices, default=ConfigurationState.NEW)
    reason = models.CharField(max_length=300, blank=True, default="")
    """Why it was refused or rolled back, as the device says."""
    reported_at = models.DateTimeField(null=True)
    applied_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "devices_deviceconfiguration"

    def __str__(self) -> str:
        return f"{self.etag} of device {self.device_id}"


class DeviceStatus(models.Model):
    """The newest health report of a device."""

    device = models.OneToOneField(Device, primary_key=True, on_delete=models.DO_NOTHING, related_name="status")
    reported_at = models.DateTimeField()
    version = models.CharField(max_length=40)
    machine = models.CharField(max_length=100)
    state = models.CharField(max_length=40)
    """The agent's own word."""
    condition = models.CharField(max_length=40)
    """Of the picture."""
    camera_name = models.CharField(max_length=100)
    camera_state = models.CharField(max_length=40)
    configuration_etag = models.CharField(max_length=24)
    configuration_state = models.CharField(max_length=12)
    configuration_reason = models.CharField(max_length=300)
    health = models.JSONField()
    """All of the report."""

    class Meta:
        db_table = "devices_devicestatus"

    def __str__(self) -> str:
        return f"{self.state} at {self.reported_at:%Y-%m-%d %H:%M} of device {self.device_id}"


class DeviceHealth(models.Model):
    """A minute of a device. A day later the same row is the next day's: the table does not grow."""

    pk = models.CompositePrimaryKey("device_id", "slot")
    device = models.ForeignKey(Device, on_delete=models.DO_NOTHING, related_name="health", db_index=False)
    slot = models.SmallIntegerField()
    """Minute of the day, in UTC."""
    at = models.DateTimeField()
    uptime_s = models.FloatField()
    state = models.TextField()
    condition = models.TextField()
    grabbed = models.BigIntegerField()
    """Frames since the agent started; so are those below."""
    answered = models.BigIntegerField()
    dropped = models.JSONField()
    """Frames by reason."""
    light = models.FloatField(null=True)
    temperature_c = models.FloatField(null=True)
    disk_free_mb = models.FloatField(null=True)
    disk_total_mb = models.FloatField(null=True)
    memory_mb = models.FloatField(null=True)
    clock_off_s = models.FloatField(null=True)
    latency_ms = models.FloatField(null=True)
    kbytes_s = models.FloatField(null=True)
    journal_waiting = models.BigIntegerField(null=True)
    journal_bytes = models.BigIntegerField(null=True)
    journal_lost = models.BigIntegerField(null=True)

    class Meta:
        db_table = "devices_devicehealth"

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} of device {self.device_id}"
