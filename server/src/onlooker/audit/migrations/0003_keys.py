"""Keys of an organisation in its log: created, for which sites and streams, revoked. Never a key or its hash."""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("onlooker.audit.migrations.0002_organisations")

KEYS = """
CREATE FUNCTION audit_note_key() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE about jsonb := jsonb_build_object('key', NEW.id, 'name', NEW.name);
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'key.created', about || jsonb_build_object(
            'scopes', NEW.scopes, 'role', NEW.role, 'all', NEW.reaches_all, 'ends', NEW.expires_at));
    ELSE
        PERFORM audit_note_of(NEW.organisation_id, 'key.revoked', about);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_key AFTER INSERT ON keys_organisationkey
    FOR EACH ROW EXECUTE FUNCTION audit_note_key();
CREATE TRIGGER audit_note_key_end AFTER UPDATE ON keys_organisationkey
    FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL) EXECUTE FUNCTION audit_note_key();
CREATE FUNCTION audit_note_key_sites() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note_of(key.organisation_id, 'key.sites',
        jsonb_build_object('key', key.id, 'names', jsonb_agg(site.name ORDER BY site.name)))
    FROM changed JOIN keys_organisationkey key ON key.id = changed.key_id
    JOIN streams_site site ON site.id = changed.site_id
    GROUP BY key.id;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_key_sites AFTER INSERT ON keys_keysite
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_note_key_sites();
CREATE FUNCTION audit_note_key_streams() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note_of(key.organisation_id, 'key.streams',
        jsonb_build_object('key', key.id, 'names', jsonb_agg(stream.name ORDER BY stream.name)))
    FROM changed JOIN keys_organisationkey key ON key.id = changed.key_id
    JOIN streams_stream stream ON stream.id = changed.stream_id
    GROUP BY key.id;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_key_streams AFTER INSERT ON keys_keystream
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_note_key_streams();
"""
UNDO = """
DROP TRIGGER audit_note_key ON keys_organisationkey;
DROP TRIGGER audit_note_key_end ON keys_organisationkey;
DROP TRIGGER audit_note_key_sites ON keys_keysite;
DROP TRIGGER audit_note_key_streams ON keys_keystream;
DROP FUNCTION audit_note_key(), audit_note_key_sites(), audit_note_key_streams();
"""


class Migration(migrations.Migration):

    dependencies = [('audit', '0002_organisations'), ('keys', '0001_initial')]

    operations = [migrations.RunSQL(KEYS + BEFORE.CLOSE, UNDO)]
