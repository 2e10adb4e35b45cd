"""Notes in the log of their organisation: written, changed, removed. Never their text: an entry outlives it."""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("onlooker.audit.migrations.0002_organisations")

NOTES = """
CREATE FUNCTION audit_note_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    noted streams_note;
    about jsonb;
    changes jsonb := '{}';
BEGIN
    IF TG_OP = 'DELETE' THEN
        noted := OLD;
    ELSE
        noted := NEW;
    END IF;
    about := jsonb_build_object('note', noted.id, 'from', noted.first_day, 'to', noted.last_day) || CASE
        WHEN noted.stream_id IS NOT NULL THEN jsonb_build_object('about', 'stream', 'name',
            (SELECT name FROM streams_stream WHERE id = noted.stream_id))
        WHEN noted.site_id IS NOT NULL THEN jsonb_build_object('about', 'site', 'name',
            (SELECT name FROM streams_site WHERE id = noted.site_id))
        ELSE jsonb_build_object('about', 'organisation', 'name', NULL) END;
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(noted.organisation_id, 'note.created', about);
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(noted.organisation_id, 'note.removed', about);
    ELSE
        IF OLD.first_day <> NEW.first_day THEN
            changes := changes || jsonb_build_object('first_day', jsonb_build_array(OLD.first_day, NEW.first_day));
        END IF;
        IF OLD.last_day <> NEW.last_day THEN
            changes := changes || jsonb_build_object('last_day', jsonb_build_array(OLD.last_day, NEW.last_day));
        END IF;
        PERFORM audit_note_of(noted.organisation_id, 'note.changed',
            about || jsonb_build_object('changes', changes, 'new_text', OLD.text <> NEW.text));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_note AFTER INSERT OR DELETE ON streams_note
    FOR EACH ROW EXECUTE FUNCTION audit_note_note();
CREATE TRIGGER audit_note_note_change AFTER UPDATE ON streams_note
    FOR EACH ROW WHEN ((OLD.first_day, OLD.last_day, OLD.text) IS DISTINCT FROM (NEW.first_day, NEW.last_day, NEW.text))
    EXECUTE FUNCTION audit_note_note();
"""
UNDO = """
DROP TRIGGER audit_note_note ON streams_note;
DROP TRIGGER audit_note_note_change ON streams_note;
DROP FUNCTION audit_note_note();
"""


class Migration(migrations.Migration):

    dependencies = [('audit', '0003_keys'), ('streams', '0016_notes')]

    operations = [migrations.RunSQL(NOTES + BEFORE.CLOSE, UNDO)]
