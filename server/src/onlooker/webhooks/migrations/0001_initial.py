"""Webhooks: endpoints, the secrets that sign, and the outbox of what is sent.

Triggers write what people change into the organisation's audit log: of a URL its host alone, of a secret nothing.
"""

import uuid

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

AUDIT = """
CREATE FUNCTION audit_webhook_host(url text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(substring(url FROM '^https://([^/?#]+)'), '')
$$;
CREATE FUNCTION audit_note_webhook() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    about jsonb;
    changes jsonb := '{}';
BEGIN
    IF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(OLD.organisation_id, 'webhook.removed',
            jsonb_build_object('webhook', OLD.id, 'host', audit_webhook_host(OLD.url)));
        RETURN NULL;
    END IF;
    about := jsonb_build_object('webhook', NEW.id, 'host', audit_webhook_host(NEW.url));
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'webhook.created',
            about || jsonb_build_object('events', to_jsonb(NEW.events)));
        RETURN NULL;
    END IF;
    IF OLD.disabled_at IS NULL AND NEW.disabled_at IS NOT NULL THEN
        PERFORM audit_note_of(NEW.organisation_id, 'webhook.disabled',
            about || jsonb_build_object('reason', NEW.disabled_why));
    ELSIF OLD.disabled_at IS NOT NULL AND NEW.disabled_at IS NULL THEN
        PERFORM audit_note_of(NEW.organisation_id, 'webhook.enabled', about);
    END IF;
    IF OLD.url <> NEW.url THEN
        changes := changes || jsonb_build_object('host',
            jsonb_build_array(audit_webhook_host(OLD.url), audit_webhook_host(NEW.url)));
    END IF;
    IF OLD.name <> NEW.name THEN
        changes := changes || jsonb_build_object('name', jsonb_build_array(OLD.name, NEW.name));
    END IF;
    IF OLD.events <> NEW.events THEN
        changes := changes || jsonb_build_object('events',
            jsonb_build_array(array_to_string(OLD.events, ' '), array_to_string(NEW.events, ' ')));
    END IF;
    IF changes <> '{}' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'webhook.changed',
            about || jsonb_build_object('changes', changes));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_webhook AFTER INSERT OR DELETE ON webhooks_endpoint
    FOR EACH ROW EXECUTE FUNCTION audit_note_webhook();
CREATE TRIGGER audit_note_webhook_change AFTER UPDATE ON webhooks_endpoint
    FOR EACH ROW WHEN ((OLD.url, OLD.name, OLD.events, OLD.disabled_at)
                       IS DISTINCT FROM (NEW.url, NEW.name, NEW.events, NEW.disabled_at))
    EXECUTE FUNCTION audit_note_webhook();
CREATE FUNCTION audit_note_webhook_secret() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note_of(endpoint.organisation_id, 'webhook.secret_replaced',
        jsonb_build_object('webhook', endpoint.id, 'host', audit_webhook_host(endpoint.url)))
    FROM webhooks_endpoint endpoint WHERE endpoint.id = NEW.endpoint_id;
    RETURN NULL;
END $$;
-- The secret before begins to expire when somebody replaces it; sealing again touches no such column.
CREATE TRIGGER audit_note_webhook_secret AFTER UPDATE ON webhooks_endpointsecret
    FOR EACH ROW WHEN (OLD.expires_at IS NULL AND NEW.expires_at IS NOT NULL)
    EXECUTE FUNCTION audit_note_webhook_secret();
REVOKE EXECUTE ON FUNCTION audit_note_webhook(), audit_note_webhook_secret() FROM PUBLIC;
-- Temporary tables last: nobody's own table stands in for ours.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION audit_webhook_host(text) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION audit_note_webhook() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION audit_note_webhook_secret() SET search_path = %I, pg_temp', current_schema());
END $$;
"""
UNAUDIT = """
DROP TRIGGER audit_note_webhook ON webhooks_endpoint;
DROP TRIGGER audit_note_webhook_change ON webhooks_endpoint;
DROP TRIGGER audit_note_webhook_secret ON webhooks_endpointsecret;
DROP FUNCTION audit_note_webhook(), audit_note_webhook_secret(), audit_webhook_host(text);
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
            name='Endpoint',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, max_length=80)),
                ('url', models.CharField(max_length=500)),
                ('events', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=60), default=list, size=None)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('disabled_at', models.DateTimeField(null=True)),
                ('disabled_why', models.CharField(blank=True, choices=[('person', 'disabled by a member'), ('failed', 'no delivery succeeded for three days'), ('gone', 'the receiver answered 410 Gone')], default='', max_length=10)),
                ('told_at', models.DateTimeField(null=True)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('failing_since', models.DateTimeField(null=True)),
                ('rest_until', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='webhooks', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='streams.organisation')),
            ],
        ),
        migrations.CreateModel(
            name='Delivery',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('message', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('event', models.CharField(max_length=60)),
                ('body', models.TextField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('next_try_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('last_try_at', models.DateTimeField(null=True)),
                ('last_status', models.PositiveSmallIntegerField(null=True)),
                ('last_reason', models.CharField(blank=True, default='', max_length=20)),
                ('delivered_at', models.DateTimeField(null=True)),
                ('failed_at', models.DateTimeField(null=True)),
                ('endpoint', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='webhooks.endpoint')),
            ],
            options={
                'verbose_name_plural': 'deliveries',
            },
        ),
        migrations.CreateModel(
            name='EndpointSecret',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('sealed_secret', models.TextField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField(null=True)),
                ('endpoint', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='secrets', to='webhooks.endpoint')),
            ],
        ),
        migrations.AddIndex(
            model_name='endpoint',
            index=models.Index(condition=models.Q(('disabled_at', None)), fields=['rest_until'], name='webhook_free'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['endpoint', '-id'], name='webhook_deliveries'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(condition=models.Q(('delivered_at', None), ('failed_at', None)), fields=['endpoint', 'next_try_at'], name='webhook_due'),
        ),
        migrations.AddIndex(
            model_name='delivery',
            index=models.Index(fields=['created_at'], name='webhook_age'),
        ),
        migrations.RunSQL(AUDIT, UNAUDIT),
    ]
