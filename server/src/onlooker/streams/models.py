"""Tables of organisations and their people, streams, access tokens, use, coverage, conditions and changes of state."""

import uuid
from typing import TypeAlias

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _lazy
from django.utils.translation import pgettext_lazy

from onlooker.streams.options import LARGEST_GROUPS
from onlooker.streams.presets import CameraPlace
from onlooker.streams.state import State
from onlooker_pipeline.face_size import FACE_BINS

LONGEST_RETENTION_DAYS = 3650
LONGEST_SILENCE_MINUTES = 7 * 24 * 60
LONGEST_NOTE = 120


class StreamKind(models.TextChoices):
    DEVELOPER = "developer", pgettext_lazy("stream", "Developer")
    ENTERPRISE = "enterprise", pgettext_lazy("stream", "Enterprise")


class ComputePlace(models.TextChoices):
    """Where the frames of a camera become visits."""

    SERVER = "server", _lazy("Server")
    DEVICE = "device", _lazy("Device")


class MemberRole(models.TextChoices):
    """What a member may do; each may do what those below may."""

    OWNER = "owner", _lazy("Owner")
    """All of it: money, other owners, the end of the organisation."""
    MANAGER = "manager", _lazy("Manager")
    """Streams, sites, and the people below."""
    ANALYST = "analyst", _lazy("Analyst")
    """The numbers of all streams."""
    VIEWER = "viewer", _lazy("Viewer")
    """The numbers of chosen sites."""


class Organisation(models.Model):
    """Whom streams belong to, and the only way to them: people are its members."""

    id = models.BigAutoField(primary_key=True)
    name = models.CharField(max_length=100)
    created_at = models.DateTimeField(db_default=Now())
    requires_second_factor = models.BooleanField(default=False, db_default=False)
    """Whether its members must have one to see anything of it."""

    def __str__(self) -> str:
        return self.name


class Site(models.Model):
    """Where streams stand: a shop, a branch, a hall."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="sites")
    name = models.CharField(max_length=100)
    address = models.CharField(max_length=300, blank=True, default="", db_default="")
    time_zone = models.TextField(default="UTC", db_default="UTC")
    hours = models.TextField(blank=True, default="", db_default="")
    """Opening hours as a stream has them; a stream that is created at the site begins with them."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["id", "organisation"], name="site_in_its_organisation")]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """An account's part in an organisation: its role, and for a viewer the sites below."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="memberships", db_index=False)
    account = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=MemberRole.choices)
    created_at = models.DateTimeField(db_default=Now())
    """Tokens that are older open nothing: an account that left and came back asks for new ones."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organisation", "account"], name="one_membership_per_organisation")
        ]

    def __str__(self) -> str:
        return f"{self.account_id} in {self.organisation_id} as {self.role}"


class MembershipSite(models.Model):
    """A site that a viewer sees."""

    id = models.BigAutoField(primary_key=True)
    membership = models.ForeignKey(Membership, on_delete=models.CASCADE, related_name="site_links", db_index=False)
    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="viewer_links")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [models.UniqueConstraint(fields=["membership", "site"], name="one_link_per_site")]

    def __str__(self) -> str:
        return f"{self.site_id} for {self.membership_id}"


class Stream(models.Model):
    """One camera's way into the product, with its own credentials and numbers."""

    Kind: TypeAlias = StreamKind

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(Organisation, null=True, on_delete=models.PROTECT, related_name="streams")
    """None, once it is being removed."""
    site = models.ForeignKey(Site, null=True, blank=True, on_delete=models.SET_NULL, related_name="streams")
    """Of the same organisation: the database sees to it."""
    name = models.CharField(max_length=100)
    client_id = models.UUIDField(default=uuid.uuid4, unique=True)
    kind = models.CharField(max_length=20, choices=StreamKind.choices, default=StreamKind.DEVELOPER)
    enabled = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)
    reads_age = models.BooleanField(default=True, db_default=True)
    reads_gender = models.BooleanField(default=True, db_default=True)
    reads_expression = models.BooleanField(default=False, db_default=False)
    """Off by default: the people in front of the camera must be told, and it is forbidden at work and in schools."""
    reads_faces = models.BooleanField(default=True, db_default=True)
    """Without it no net looks for a face: people are counted by their bodies alone."""
    place = models.CharField(
        max_length=20,
        blank=True,
        choices=[(place.value, place.value) for place in CameraPlace],
        default=CameraPlace.UNKNOWN.value,
        db_default=CameraPlace.UNKNOWN.value,
    )
    notice_given_at = models.DateTimeField(null=True)
    """When somebody said that the people in front of the camera are told; NULL: never."""
    hours = models.TextField(blank=True, default="", db_default="")
    """Opening hours on its local clock, as `onlooker.streams.business_hours` writes them; empty: always open."""
    hours_since = models.DateTimeField(null=True)
    """Since when these hours hold, in this time zone; what was before is in OpeningHours."""
    compute = models.CharField(
        max_length=10, choices=ComputePlace.choices, default=ComputePlace.SERVER, db_default=ComputePlace.SERVER
    )
    """What its agent is told; what arrives is taken either way."""
    retention_days = models.PositiveSmallIntegerField(default=365, db_default=365)
    coverage_since = models.DateTimeField(null=True, editable=False)
    """What was watched before is not known: earlier releases deleted it with the visits. NULL: all of it is there."""
    time_zone = models.TextField(default="UTC", db_default="UTC")
    groups_of = models.PositiveSmallIntegerField(default=1, db_default=1)
    """Nothing is told about fewer people. The database itself groups what it has when this is raised from 1."""
    grid = models.BooleanField(default=False, db_default=False)
    """Ranges are rounded to slots."""
    silence_alert_minutes = models.PositiveSmallIntegerField(default=15, db_default=15)
    """After this long without a frame owners and managers get an e-mail; 0: never."""
    blind_alert_minutes = models.PositiveSmallIntegerField(default=15, db_default=15)
    """After this long in which its camera saw nothing owners and managers get an e-mail; 0: never."""
    unusual_alert = models.BooleanField(default=False, db_default=False)
    """Whether owners and managers get an e-mail when far fewer or far more people come than usual."""
    removed_at = models.DateTimeField(null=True)
    """From then on nobody sees it, while what belongs to it is deleted."""

    class Meta:
        indexes = [
            models.Index(fields=["removed_at"], name="stream_removed", condition=models.Q(removed_at__isnull=False))
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(organisation__isnull=False) | models.Q(removed_at__isnull=False),
                name="stream_has_organisation",
            ),
            models.CheckConstraint(
                condition=models.Q(silence_alert_minutes__lte=LONGEST_SILENCE_MINUTES), name="silence_alert_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(blind_alert_minutes__lte=LONGEST_SILENCE_MINUTES), name="blind_alert_in_range"
            ),
            models.CheckConstraint(
                condition=models.Q(retention_days__range=(1, LONGEST_RETENTION_DAYS)), name="retention_days_in_range"
            ),
            models.CheckConstraint(condition=models.Q(groups_of__range=(1, LARGEST_GROUPS)), name="groups_of_in_range"),
        ]

    def __str__(self) -> str:
        return self.name


class AccessToken(models.Model):
    """The SHA-256 of an access token; the token itself is shown once and never stored."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="access_tokens")
    sha256 = models.BinaryField(max_length=32)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True)
    is_trial = models.BooleanField(default=False, db_default=False)
    """Made by the page for trying a stream out: what is sent with it is never stored, and it opens nothing else."""

    def __str__(self) -> str:
        return f"token {self.pk} of {self.stream_id}"


class Tag(models.Model):
    """A word by which an organisation finds its streams."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="tags", db_index=False)
    name = models.CharField(max_length=50)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organisation", "name"], name="one_tag_per_name")]

    def __str__(self) -> str:
        return self.name


class StreamTag(models.Model):
    """A tag on a stream."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="tag_links", db_index=False)
    tag = models.ForeignKey(Tag, on_delete=models.CASCADE, related_name="stream_links")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "tag"], name="one_link_per_tag")]

    def __str__(self) -> str:
        return f"{self.tag_id} on {self.stream_id}"


class Note(models.Model):
    """What somebody wrote about days: of one stream, of a site, or of the whole organisation."""

    id = models.BigAutoField(primary_key=True)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="notes", db_index=False)
    site = models.ForeignKey(Site, null=True, on_delete=models.CASCADE, related_name="notes")
    """Of the same organisation: the database sees to it."""
    stream = models.ForeignKey(Stream, null=True, on_delete=models.CASCADE, related_name="notes")
    first_day = models.DateField()
    """Of each stream's own clock, as the last one is."""
    last_day = models.DateField()
    text = models.CharField(max_length=LONGEST_NOTE)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="notes")
    """NULL: at the command line, with a key, or by an account that is gone."""
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["organisation", "last_day"], name="notes_by_day")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(site__isnull=True) | models.Q(stream__isnull=True), name="note_of_one_thing"
            ),
            models.CheckConstraint(
                condition=models.Q(first_day__lte=models.F("last_day")), name="note_ends_after_its_start"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first_day} to {self.last_day} of {self.organisation_id}"


class Usage(models.Model):
    """Computed video of a stream in one calendar month (UTC)."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="usage")
    month = models.DateField()
    video_s = models.FloatField(default=0)
    last_frame_at = models.DateTimeField(null=True)
    """When the newest of them was counted, to as many seconds as meters are written after."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "month"], name="one_usage_per_month")]

    def __str__(self) -> str:
        return f"{self.month:%Y-%m} of {self.stream_id}"


class Coverage(models.Model):
    """Seconds of video that were computed for visits, by the frames' own time: without them nobody was looked for."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="coverage", db_index=False)
    slot_at = models.DateTimeField()
    """When the slot begins."""
    video_s = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "slot_at"], name="one_coverage_per_slot")]

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class Refusal(models.Model):
    """How many frames meant for visits were refused in a slot, for one reason of the closed list."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="refusals", db_index=False)
    slot_at = models.DateTimeField()
    reason = models.TextField()
    frames = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "slot_at", "reason"], name="one_refusal_per_reason")]

    def __str__(self) -> str:
        return f"{self.reason} at {self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class Blindness(models.Model):
    """Seconds of video for visits in which the camera saw nothing, in a slot, for one fault of the closed list."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="blindness", db_index=False)
    slot_at = models.DateTimeField()
    fault = models.TextField()
    video_s = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "slot_at", "fault"], name="one_blindness_per_fault")]

    def __str__(self) -> str:
        return f"{self.fault} at {self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class PictureCondition(models.Model):
    """Whether a stream's camera sees now, as judged by its newest frames for visits."""

    stream = models.OneToOneField(
        Stream, primary_key=True, on_delete=models.CASCADE, related_name="picture_condition", db_index=False
    )
    fault = models.TextField(blank=True)
    """Of the closed list; empty while it sees."""
    since_at = models.DateTimeField()
    blind_since_at = models.DateTimeField(null=True)
    """Since when it has seen nothing, whatever the faults; a few seconds of sight do not end that."""
    seen_at = models.DateTimeField()
    """When this was last so, to half a minute."""

    def __str__(self) -> str:
        return f"{self.fault or 'sees'} since {self.since_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class AgentCondition(models.Model):
    """What a stream's agent last reported of its camera and its frames."""

    stream = models.OneToOneField(
        Stream, primary_key=True, on_delete=models.CASCADE, related_name="agent_condition", db_index=False
    )
    state = models.TextField()
    """Of the closed list."""
    since_at = models.DateTimeField()
    blind_since_at = models.DateTimeField(null=True)
    """Since when it has had no pictures, also over a restart of the agent."""
    over_s = models.FloatField()
    """Of how many seconds the counts are."""
    sent = models.BigIntegerField()
    dropped = models.JSONField()
    """Frames by reason."""
    version = models.TextField(blank=True)
    received_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.state} since {self.since_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class Quality(models.Model):
    """How well the frames of a slot that count as watched could be looked at, by what computed them: sums."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="quality", db_index=False)
    slot_at = models.DateTimeField()
    models_version = models.TextField()
    pipeline_version = models.TextField()
    frames = models.BigIntegerField()
    video_s = models.FloatField()
    dark_frames = models.BigIntegerField()
    face_frames = models.BigIntegerField()
    """Frames that show a face, and their seconds of video: cameras send fewer while nobody is there."""
    face_video_s = models.FloatField()
    faces = ArrayField(models.IntegerField(), size=FACE_BINS)
    """Faces by size, see `onlooker_pipeline.face_size`."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["stream", "slot_at", "models_version", "pipeline_version"], name="one_quality_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class DeviceCoverage(models.Model):
    """What a device that computes by itself last told of a slot: sums that are part of the tables above."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="device_coverage", db_index=False)
    slot_at = models.DateTimeField()
    device = models.UUIDField()
    """Of its journal."""
    revision = models.IntegerField()
    """A lower one, or the same again, changes nothing."""
    watched_s = models.FloatField()
    counted_s = models.FloatField()
    """How much of it counts towards the month: that never shrinks."""
    sums = models.JSONField()
    """Blind seconds, refused frames and quality; see `onlooker.streams.device_coverage`."""
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    """When the first and the newest revision arrived."""
    whole_at = models.DateTimeField(null=True)
    """When it first came together with everything that the device had; NULL if it never did."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stream", "slot_at", "device"], name="one_device_coverage_per_slot")
        ]

    def __str__(self) -> str:
        return f"{self.slot_at:%Y-%m-%d %H:%M} of {self.stream_id} by {self.device}"


class OpeningHours(models.Model):
    """Which opening hours held from when on; the newest ones hold now. Without any a stream was always open."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="opening_hours", db_index=False)
    since_at = models.DateTimeField()
    hours = models.TextField(blank=True)
    """Empty: always open."""
    time_zone = models.TextField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["stream", "since_at"], name="one_opening_hours_per_moment")]

    def __str__(self) -> str:
        return f"{self.hours or 'always'} from {self.since_at:%Y-%m-%d %H:%M} of {self.stream_id}"


class StateChange(models.Model):
    """When a stream became able to compute, or unable; the newest one holds now."""

    id = models.BigAutoField(primary_key=True)
    stream = models.ForeignKey(Stream, on_delete=models.CASCADE, related_name="state_changes", db_index=False)
    at = models.DateTimeField(db_default=Now())
    state = models.TextField(choices=[(state.value, state.value) for state in State])

    class Meta:
        indexes = [models.Index(fields=["stream", "-id"], name="newest_state_of_stream")]

    def __str__(self) -> str:
        return f"{self.stream_id} {self.state} at {self.at:%Y-%m-%d %H:%M}"
