"""Device settings by template, site and device; versions of what comes out of them; health reports.

Functions of the database merge the settings and write versions, so that a change is one statement for any number of
devices, and a stream that moves or changes brings its device a version, no matter who changed it. Rows of versions and health go
with their device.
"""

import re
from importlib import import_module

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

BEFORE = import_module("onlooker.devices.migrations.0001_initial")
KEPT_VERSIONS = 50

MAKE_TABLES = """
CREATE TABLE devices_deviceconfiguration (
    device_id bigint NOT NULL REFERENCES devices_device (id) ON DELETE CASCADE,
    version integer NOT NULL,
    settings jsonb NOT NULL,
    etag varchar(24) NOT NULL,
    level varchar(10) NOT NULL,
    by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    state varchar(12) NOT NULL DEFAULT 'new',
    reason varchar(300) NOT NULL DEFAULT '',
    reported_at timestamptz NULL,
    applied_at timestamptz NULL,
    PRIMARY KEY (device_id, version)
);
CREATE TABLE devices_devicestatus (
    device_id bigint PRIMARY KEY REFERENCES devices_device (id) ON DELETE CASCADE,
    reported_at timestamptz NOT NULL,
    version varchar(40) NOT NULL,
    machine varchar(100) NOT NULL,
    state varchar(40) NOT NULL,
    condition varchar(40) NOT NULL,
    camera_name varchar(100) NOT NULL,
    camera_state varchar(40) NOT NULL,
    configuration_etag varchar(24) NOT NULL,
    configuration_state varchar(12) NOT NULL,
    configuration_reason varchar(300) NOT NULL,
    health jsonb NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE devices_devicehealth (
    device_id bigint NOT NULL REFERENCES devices_device (id) ON DELETE CASCADE,
    slot smallint NOT NULL CHECK (slot BETWEEN 0 AND 1439),
    at timestamptz NOT NULL,
    uptime_s double precision NOT NULL,
    state text NOT NULL,
    condition text NOT NULL,
    grabbed bigint NOT NULL,
    answered bigint NOT NULL,
    dropped jsonb NOT NULL,
    light double precision NULL,
    temperature_c double precision NULL,
    disk_free_mb double precision NULL,
    disk_total_mb double precision NULL,
    memory_mb double precision NULL,
    clock_off_s double precision NULL,
    latency_ms double precision NULL,
    kbytes_s double precision NULL,
    journal_waiting bigint NULL,
    journal_bytes bigint NULL,
    journal_lost bigint NULL,
    PRIMARY KEY (device_id, slot)
) WITH (fillfactor = 90);
"""

# Template below site below device. Where frames are computed and opening hours are the stream's, unless the device has
# its own; hours mean nothing without the time zone. Queries take these two functions in: they have no search path of
# their own.
MERGE = f"""
CREATE FUNCTION devices_levels() RETURNS TABLE (device_id bigint, below jsonb, zone text) LANGUAGE sql STABLE AS $$
    SELECT device.id,
        jsonb_strip_nulls(jsonb_build_object('compute', stream.compute, 'hours', nullif(stream.hours, '')))
            || coalesce(template.device_settings, '{{}}') || coalesce(place.settings, '{{}}'),
        stream.time_zone
    FROM devices_device device
    JOIN streams_stream stream ON stream.id = device.stream_id
    LEFT JOIN devices_devicetemplate template ON template.id = device.template_id
    LEFT JOIN devices_sitedevicesettings place ON place.site_id = stream.site_id
$$;
CREATE FUNCTION devices_merge(below jsonb, own jsonb, zone text) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN below ? 'hours' OR own ? 'hours' THEN below || own || jsonb_build_object('time_zone', zone)
        ELSE below || own END
$$;
CREATE FUNCTION devices_etag(of_version integer, of_settings jsonb) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT of_version || '-' || left(encode(sha256(convert_to(of_settings::text, 'UTF8')), 'hex'), 8)
$$;
-- Those whose settings are not what their newest version says get their next one; always in the order of their numbers,
-- so that two changes at the same time wait for one another and not both.
CREATE FUNCTION devices_write_versions(of_devices bigint[], changed text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE written bigint[];
BEGIN
    WITH found AS (
        SELECT device.id, devices_merge(levels.below, device.settings, levels.zone) AS settings, coalesce(newest.version, 0) + 1 AS version,
            newest.settings AS newest, newest.version IS NULL AS is_first
        FROM devices_device device
        JOIN devices_levels() levels ON levels.device_id = device.id
        LEFT JOIN LATERAL (
            SELECT one.version, one.settings FROM devices_deviceconfiguration one
            WHERE one.device_id = device.id ORDER BY one.version DESC LIMIT 1
        ) newest ON true
        WHERE device.id = ANY (of_devices) AND device.revoked_at IS NULL
    ), added AS (
        INSERT INTO devices_deviceconfiguration (device_id, version, settings, etag, level, by)
        SELECT id, version, settings, devices_etag(version, settings),
            CASE WHEN is_first THEN 'enrolment' ELSE changed END, audit_actor()
        FROM found WHERE settings IS DISTINCT FROM newest OR changed = 'again'
        ORDER BY id
        ON CONFLICT DO NOTHING
        RETURNING device_id
    )
    SELECT array_agg(device_id) INTO written FROM added;
    DELETE FROM devices_deviceconfiguration one
    USING (
        SELECT device_id, max(version) AS newest, max(version) FILTER (WHERE state = 'applied') AS good
        FROM devices_deviceconfiguration WHERE device_id = ANY (written) GROUP BY device_id
    ) kept
    WHERE one.device_id = kept.device_id AND one.version <= kept.newest - {KEPT_VERSIONS}
        AND one.version IS DISTINCT FROM kept.good;
    RETURN coalesce(cardinality(written), 0);
END $$;
CREATE FUNCTION devices_note_stream() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM devices_write_versions(
        ARRAY(SELECT id FROM devices_device WHERE stream_id = NEW.id AND revoked_at IS NULL), 'stream');
    RETURN NULL;
END $$;
CREATE TRIGGER devices_note_stream AFTER UPDATE ON streams_stream FOR EACH ROW
    WHEN (NEW.removed_at IS NULL AND (OLD.site_id, OLD.compute, OLD.hours, OLD.time_zone)
        IS DISTINCT FROM (NEW.site_id, NEW.compute, NEW.hours, NEW.time_zone))
    EXECUTE FUNCTION devices_note_stream();
-- Also where its template is removed.
CREATE FUNCTION devices_note_template() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM devices_write_versions(ARRAY[NEW.id], 'template');
    RETURN NULL;
END $$;
CREATE TRIGGER devices_note_template AFTER UPDATE ON devices_device FOR EACH ROW
    WHEN (NEW.revoked_at IS NULL AND OLD.template_id IS DISTINCT FROM NEW.template_id)
    EXECUTE FUNCTION devices_note_template();
"""

AUDIT = """
CREATE OR REPLACE FUNCTION audit_note_device() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE about jsonb := jsonb_build_object('device', NEW.id, 'name', NEW.name);
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note(NEW.stream_id, 'device.enrolled', about || jsonb_build_object('code', NEW.code_id));
        RETURN NULL;
    ELSIF OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL THEN
        PERFORM audit_note(NEW.stream_id, 'device.revoked', about);
    END IF;
    IF (OLD.settings, OLD.template_id) IS DISTINCT FROM (NEW.settings, NEW.template_id) THEN
        PERFORM audit_note(NEW.stream_id, 'device.configured', about || jsonb_build_object(
            'changes', devices_changes(OLD.settings, NEW.settings),
            'template', (SELECT name FROM devices_devicetemplate WHERE id = NEW.template_id)));
    END IF;
    RETURN NULL;
END $$;
-- By setting: before and after.
CREATE FUNCTION devices_changes(before jsonb, after jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(jsonb_object_agg(name, jsonb_build_array(before -> name, after -> name)), '{}')
    FROM (SELECT jsonb_object_keys(before || after) AS name) names
    WHERE before -> name IS DISTINCT FROM after -> name
$$;
CREATE FUNCTION audit_note_template_settings() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note_of(NEW.organisation_id, 'template.configured', jsonb_build_object(
        'name', NEW.name, 'changes', devices_changes(OLD.device_settings, NEW.device_settings)));
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_template_settings AFTER UPDATE ON devices_devicetemplate
    FOR EACH ROW WHEN (OLD.device_settings IS DISTINCT FROM NEW.device_settings)
    EXECUTE FUNCTION audit_note_template_settings();
CREATE FUNCTION audit_note_site_settings() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE before jsonb := '{}';
BEGIN
    IF TG_OP = 'UPDATE' THEN
        before := OLD.settings;
    END IF;
    IF before IS DISTINCT FROM NEW.settings THEN
        PERFORM audit_note_of(site.organisation_id, 'site.configured', jsonb_build_object(
            'site', site.id, 'name', site.name, 'changes', devices_changes(before, NEW.settings)))
        FROM streams_site site WHERE site.id = NEW.site_id;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_site_settings AFTER INSERT OR UPDATE ON devices_sitedevicesettings
    FOR EACH ROW EXECUTE FUNCTION audit_note_site_settings();
CREATE FUNCTION audit_note_configuration() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note(device.stream_id, 'device.configuration_' || NEW.state, jsonb_build_object(
        'device', device.id, 'name', device.name, 'version', NEW.version, 'reason', NEW.reason))
    FROM devices_device device WHERE device.id = NEW.device_id;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_configuration AFTER UPDATE ON devices_deviceconfiguration
    FOR EACH ROW WHEN (OLD.state <> NEW.state AND NEW.state IN ('refused', 'rolled_back'))
    EXECUTE FUNCTION audit_note_configuration();
"""

# Temporary tables last: nobody's own table stands in for ours.
CLOSE = """
DO $$ DECLARE ours regprocedure; BEGIN
    FOR ours IN SELECT oid FROM pg_proc WHERE pronamespace = current_schema()::regnamespace AND (
        proname IN ('devices_write_versions', 'devices_note_stream', 'devices_note_template', 'audit_note_device',
        'audit_note_template_settings', 'audit_note_site_settings', 'audit_note_configuration'))
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', ours, current_schema());
    END LOOP;
END $$;
REVOKE EXECUTE ON FUNCTION audit_note_device(), audit_note_template_settings(), audit_note_site_settings(),
    audit_note_configuration(), devices_note_stream(), devices_note_template() FROM PUBLIC;
"""

DEVICE_BEFORE = re.search(r"FUNCTION audit_note_device\(\) RETURNS trigger.*?END \$\$;", BEFORE.AUDIT, re.DOTALL)
assert DEVICE_BEFORE
UNDO = f"""
DROP TRIGGER devices_note_stream ON streams_stream;
DROP TRIGGER devices_note_template ON devices_device;
DROP TRIGGER audit_note_template_settings ON devices_devicetemplate;
DROP TRIGGER audit_note_site_settings ON devices_sitedevicesettings;
DROP TABLE devices_devicehealth, devices_devicestatus, devices_deviceconfiguration;
CREATE OR REPLACE {DEVICE_BEFORE[0]}
DROP FUNCTION devices_note_stream(), devices_note_template(), devices_write_versions(bigint[], text), devices_levels(), devices_merge(jsonb, jsonb, text),
    devices_etag(integer, jsonb), devices_changes(jsonb, jsonb), audit_note_template_settings(),
    audit_note_site_settings(), audit_note_configuration();
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION audit_note_device() SET search_path = %I, pg_temp', current_schema());
END $$;
"""
CHOOSE_TEMPLATES = """
UPDATE devices_device device SET template_id = code.template_id
FROM devices_enrolmentcode code WHERE code.id = device.code_id AND code.template_id IS NOT NULL
"""
NO_SETTINGS = models.Value({}, models.JSONField())
OF_DEVICE = {'on_delete': django.db.models.deletion.DO_NOTHING, 'to': 'devices.device'}
STATES = [('new', 'New'), ('trying', 'Trying'), ('applied', 'Applied'), ('refused', 'Refused'), ('rolled_back', 'Rolled Back')]


class Migration(migrations.Migration):

    dependencies = [('audit', '0002_organisations'), ('devices', '0001_initial'), ('streams', '0015_memberships')]

    operations = [
        migrations.AddField('devicetemplate', 'device_settings', models.JSONField(db_default=NO_SETTINGS, default=dict)),
        migrations.AddField('device', 'settings', models.JSONField(db_default=NO_SETTINGS, default=dict)),
        migrations.AddField(
            'device',
            'template',
            models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='devices', to='devices.devicetemplate'),
        ),
        migrations.CreateModel(
            name='SiteDeviceSettings',
            fields=[
                ('site', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='device_settings', serialize=False, to='streams.site')),
                ('settings', models.JSONField(default=dict)),
            ],
        ),
        migrations.RunSQL(CHOOSE_TEMPLATES, migrations.RunSQL.noop),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_TABLES + MERGE + AUDIT + CLOSE, UNDO)],
            state_operations=[
                migrations.CreateModel(
                    name='DeviceConfiguration',
                    fields=[
                        ('pk', models.CompositePrimaryKey('device_id', 'version', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('version', models.IntegerField()),
                        ('settings', models.JSONField()),
                        ('etag', models.CharField(max_length=24)),
                        ('level', models.CharField(max_length=10)),
                        ('by', models.TextField()),
                        ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                        ('state', models.CharField(choices=STATES, default='new', max_length=12)),
                        ('reason', models.CharField(blank=True, default='', max_length=300)),
                        ('reported_at', models.DateTimeField(null=True)),
                        ('applied_at', models.DateTimeField(null=True)),
                        ('device', models.ForeignKey(db_index=False, related_name='configurations', **OF_DEVICE)),
                    ],
                    options={'db_table': 'devices_deviceconfiguration'},
                ),
                migrations.CreateModel(
                    name='DeviceStatus',
                    fields=[
                        ('device', models.OneToOneField(primary_key=True, related_name='status', serialize=False, **OF_DEVICE)),
                        ('reported_at', models.DateTimeField()),
                        ('version', models.CharField(max_length=40)),
                        ('machine', models.CharField(max_length=100)),
                        ('state', models.CharField(max_length=40)),
                        ('condition', models.CharField(max_length=40)),
                        ('camera_name', models.CharField(max_length=100)),
                        ('camera_state', models.CharField(max_length=40)),
                        ('configuration_etag', models.CharField(max_length=24)),
                        ('configuration_state', models.CharField(max_length=12)),
                        ('configuration_reason', models.CharField(max_length=300)),
                        ('health', models.JSONField()),
                    ],
                    options={'db_table': 'devices_devicestatus'},
                ),
                migrations.CreateModel(
                    name='DeviceHealth',
                    fields=[
                        ('pk', models.CompositePrimaryKey('device_id', 'slot', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('slot', models.SmallIntegerField()),
                        ('at', models.DateTimeField()),
                        ('uptime_s', models.FloatField()),
                        ('state', models.TextField()),
                        ('condition', models.TextField()),
                        ('grabbed', models.BigIntegerField()),
                        ('answered', models.BigIntegerField()),
                        ('dropped', models.JSONField()),
                        *[(name, models.FloatField(null=True)) for name in ('light', 'temperature_c', 'disk_free_mb', 'disk_total_mb', 'memory_mb', 'clock_off_s', 'latency_ms', 'kbytes_s')],
                        *[(name, models.BigIntegerField(null=True)) for name in ('journal_waiting', 'journal_bytes', 'journal_lost')],
                        ('device', models.ForeignKey(db_index=False, related_name='health', **OF_DEVICE)),
                    ],
                    options={'db_table': 'devices_devicehealth'},
                ),
            ],
        ),
    ]
