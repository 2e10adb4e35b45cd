"""Devices: templates, enrolment codes, boxes, and which access token belongs to which box.

Access tokens stay where they are: a device's is one of its stream's, so every process checks it as it did. Triggers
write what becomes of a device into its stream's audit log, and codes and templates into that of the organisation.
"""

import uuid

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

AUDIT = """
CREATE FUNCTION audit_note_device() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE about jsonb := jsonb_build_object('device', NEW.id, 'name', NEW.name);
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note(NEW.stream_id, 'device.enrolled', about || jsonb_build_object('code', NEW.code_id));
    ELSIF OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL THEN
        PERFORM audit_note(NEW.stream_id, 'device.revoked', about);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_device AFTER INSERT OR UPDATE ON devices_device
    FOR EACH ROW EXECUTE FUNCTION audit_note_device();
-- By its number, never its hash.
CREATE FUNCTION audit_note_code() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE about jsonb := jsonb_build_object('code', NEW.id, 'devices', NEW.devices_at_most, 'ends', NEW.expires_at);
BEGIN
    IF TG_OP = 'UPDATE' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'code.ended', about);
    ELSIF NEW.stream_id IS NULL THEN
        PERFORM audit_note_of(NEW.organisation_id, 'code.created', about);
    ELSE
        PERFORM audit_note(NEW.stream_id, 'replacement.created', about);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_code AFTER INSERT ON devices_enrolmentcode
    FOR EACH ROW EXECUTE FUNCTION audit_note_code();
CREATE TRIGGER audit_note_code_end AFTER UPDATE ON devices_enrolmentcode
    FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL) EXECUTE FUNCTION audit_note_code();
CREATE FUNCTION audit_note_template() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'template.created',
            jsonb_build_object('name', NEW.name, 'settings', NEW.settings));
    ELSE
        PERFORM audit_note_of(OLD.organisation_id, 'template.removed', jsonb_build_object('name', OLD.name));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_template AFTER INSERT OR DELETE ON devices_devicetemplate
    FOR EACH ROW EXECUTE FUNCTION audit_note_template();
REVOKE EXECUTE ON FUNCTION audit_note_device(), audit_note_code(), audit_note_template() FROM PUBLIC;
-- Temporary tables last: nobody's own table stands in for ours.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION audit_note_device() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION audit_note_code() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION audit_note_template() SET search_path = %I, pg_temp', current_schema());
END $$;
"""
UNAUDIT = """
DROP TRIGGER audit_note_device ON devices_device;
DROP TRIGGER audit_note_code ON devices_enrolmentcode;
DROP TRIGGER audit_note_code_end ON devices_enrolmentcode;
DROP TRIGGER audit_note_template ON devices_devicetemplate;
DROP FUNCTION audit_note_device(), audit_note_code(), audit_note_template();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('audit', '0002_organisations'),
        ('streams', '0015_memberships'),
    ]

    operations = [
        migrations.CreateModel(
            name='DeviceTemplate',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('settings', models.JSONField(default=dict)),
                ('notice_given_at', models.DateTimeField(null=True)),
                ('source', models.CharField(blank=True, default='0', max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('organisation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='device_templates', to='streams.organisation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organisation', 'name'), name='one_template_per_name')],
            },
        ),
        migrations.CreateModel(
            name='EnrolmentCode',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('hashed', models.BinaryField(max_length=32, unique=True)),
                ('beginning', models.CharField(max_length=4)),
                ('devices_at_most', models.PositiveSmallIntegerField()),
                ('devices', models.PositiveSmallIntegerField(default=0)),
                ('expires_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='enrolment_codes', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='enrolment_codes', to='streams.organisation')),
                ('site', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='enrolment_codes', to='streams.site')),
                ('stream', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='enrolment_codes', to='streams.stream')),
                ('template', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='codes', to='devices.devicetemplate')),
            ],
            options={
                'constraints': [
                    models.CheckConstraint(condition=models.Q(('template__isnull', False), ('stream__isnull', False), _connector='XOR'), name='code_creates_or_replaces'),
                    models.CheckConstraint(condition=models.Q(('devices_at_most__range', (1, 1000)), ('devices__lte', models.F('devices_at_most'))), name='code_devices_in_range'),
                ],
            },
        ),
        migrations.CreateModel(
            name='Device',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('device_id', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('key_sha256', models.BinaryField(max_length=32, unique=True)),
                ('name', models.CharField(blank=True, max_length=100)),
                ('machine', models.CharField(blank=True, max_length=100)),
                ('version', models.CharField(blank=True, max_length=40)),
                ('enrolled_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('seen_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('revoked_at', models.DateTimeField(null=True)),
                ('code', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='enrolled', to='devices.enrolmentcode')),
                ('stream', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='devices', to='streams.stream')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('revoked_at__isnull', False)), fields=['revoked_at'], name='device_revoked')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('revoked_at__isnull', True)), fields=('stream',), name='one_device_per_stream')],
            },
        ),
        migrations.CreateModel(
            name='DeviceCredential',
            fields=[
                ('access_token', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='device_credential', serialize=False, to='streams.accesstoken')),
                ('device', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='credentials', to='devices.device')),
            ],
        ),
        migrations.RunSQL(AUDIT, UNAUDIT),
    ]
