"""Read-only links. Triggers write into the organisation's audit log who creates and revokes one; never its token."""

from importlib import import_module

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

AUDIT_BEFORE = import_module("onlooker.audit.migrations.0002_organisations")

AUDIT = """
CREATE FUNCTION audit_note_link() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    link reports_sharedlink;
    about jsonb;
BEGIN
    IF TG_OP = 'DELETE' THEN
        link := OLD;
    ELSE
        link := NEW;
    END IF;
    about := jsonb_build_object('link', link.id, 'label', link.label);
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(link.organisation_id, 'link.created', about || jsonb_build_object(
            'stream', (SELECT name FROM streams_stream WHERE id = link.stream_id),
            'site', (SELECT name FROM streams_site WHERE id = link.site_id),
            'tag', (SELECT name FROM streams_tag WHERE id = link.tag_id),
            'password', link.password <> '', 'origins', to_jsonb(link.origins), 'ends', link.expires_at));
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(link.organisation_id, 'link.removed', about);
    ELSE
        PERFORM audit_note_of(link.organisation_id, 'link.revoked', about);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_link AFTER INSERT ON reports_sharedlink
    FOR EACH ROW EXECUTE FUNCTION audit_note_link();
CREATE TRIGGER audit_note_link_end AFTER UPDATE ON reports_sharedlink
    FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION audit_note_link();
-- One that ends with its stream, site or tag; of one that had ended before, there is nothing to tell.
CREATE TRIGGER audit_note_link_removal AFTER DELETE ON reports_sharedlink
    FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND OLD.expires_at > now()) EXECUTE FUNCTION audit_note_link();
"""
UNAUDIT = """
DROP TRIGGER audit_note_link ON reports_sharedlink;
DROP TRIGGER audit_note_link_end ON reports_sharedlink;
DROP TRIGGER audit_note_link_removal ON reports_sharedlink;
DROP FUNCTION audit_note_link();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('audit', '0004_notes'),
        ('streams', '0016_notes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='SharedLink',
            fields=[
                ('period', models.CharField(blank=True, max_length=20)),
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('label', models.CharField(max_length=80)),
                ('first_day', models.DateField(null=True)),
                ('last_day', models.DateField(null=True)),
                ('token_sha256', models.BinaryField(max_length=32, unique=True)),
                ('password', models.CharField(blank=True, max_length=128)),
                ('origins', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=200), default=list, size=None)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='sharedlinks', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.organisation')),
                ('site', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.site')),
                ('stream', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.stream')),
                ('tag', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.tag')),
            ],
            options={
                'abstract': False,
                'constraints': [models.CheckConstraint(condition=models.Q(('stream', None), models.Q(('site', None), ('tag', None)), _connector='OR'), name='sharedlink_of_one_thing'), models.CheckConstraint(condition=models.Q(models.Q(('first_day__lte', models.F('last_day')), ('period', '')), models.Q(models.Q(('period', ''), _negated=True), ('first_day', None), ('last_day', None)), _connector='OR'), name='sharedlink_has_a_period')],
            },
        ),
        migrations.RunSQL(AUDIT + AUDIT_BEFORE.CLOSE, UNAUDIT),
    ]
