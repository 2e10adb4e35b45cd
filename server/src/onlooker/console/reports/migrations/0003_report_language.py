"""The language in which a report is written. The audit log notes each change of a choice, of later ones too."""

from importlib import import_module

from django.db import migrations, models

AUDIT_BEFORE = import_module("onlooker.audit.migrations.0002_organisations")

NOTE = """
CREATE OR REPLACE FUNCTION audit_note_report() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    report reports_mailedreport;
    changes jsonb;
BEGIN
    IF TG_OP = 'DELETE' THEN
        report := OLD;
    ELSE
        report := NEW;
    END IF;
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(report.organisation_id, 'report.created', jsonb_build_object(
            'report', report.id, 'name', report.name,
            'stream', (SELECT name FROM streams_stream WHERE id = report.stream_id),
            'site', (SELECT name FROM streams_site WHERE id = report.site_id),
            'tag', (SELECT name FROM streams_tag WHERE id = report.tag_id)));
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(report.organisation_id, 'report.removed',
            jsonb_build_object('report', report.id, 'name', report.name));
    ELSE
        SELECT jsonb_object_agg(key, jsonb_build_array(was.value, becomes.value)) INTO changes
        FROM jsonb_each(to_jsonb(OLD)) was JOIN jsonb_each(to_jsonb(NEW)) becomes USING (key)
        WHERE %(choices)s AND was.value IS DISTINCT FROM becomes.value;
        PERFORM audit_note_of(report.organisation_id, 'report.changed',
            jsonb_build_object('report', report.id, 'name', report.name, 'changes', changes));
    END IF;
    RETURN NULL;
END $$;
DROP TRIGGER audit_note_report_change ON reports_mailedreport;
CREATE TRIGGER audit_note_report_change AFTER UPDATE ON reports_mailedreport
    FOR EACH ROW WHEN (%(is_changed)s) EXECUTE FUNCTION audit_note_report();
"""
NOTE_CHOICES = NOTE % {
    "choices": "key NOT IN ('due_at', 'created_by_id')",
    "is_changed": "to_jsonb(OLD) - 'due_at' - 'created_by_id' "
    "IS DISTINCT FROM to_jsonb(NEW) - 'due_at' - 'created_by_id'",
}
NOTE_AS_BEFORE = NOTE % {
    "choices": "key IN ('name', 'weekday', 'hour', 'period')",
    "is_changed": "(OLD.name, OLD.weekday, OLD.hour, OLD.period) "
    "IS DISTINCT FROM (NEW.name, NEW.weekday, NEW.hour, NEW.period)",
}


class Migration(migrations.Migration):
    dependencies = [("reports", "0002_mailed_reports")]

    operations = [
        migrations.AddField(
            model_name="mailedreport",
            name="language",
            field=models.CharField(db_default="en-gb", default="en-gb", max_length=5),
        ),
        migrations.RunSQL(NOTE_CHOICES + AUDIT_BEFORE.CLOSE, NOTE_AS_BEFORE + AUDIT_BEFORE.CLOSE),
    ]
