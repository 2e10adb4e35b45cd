"""Organisations have a log of their own: who came, went or got another role, sites, invitations.

A change that concerns 10,000 streams is one entry. Entries are numbered, dated and chained as those of streams are, and
hashed as theirs: the number of an organisation stands, negative, in the place of a stream's.
"""

import re
from importlib import import_module

import django.db.models.deletion
from django.db import migrations, models

KEPT_DAYS = 365
BEFORE = import_module("onlooker.audit.migrations.0001_initial")

MAKE_TABLES = """
CREATE TABLE audit_organisationentry (
    organisation_id bigint NOT NULL REFERENCES streams_organisation (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    at timestamptz NOT NULL,
    role text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    detail text NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (organisation_id, number)
);
CREATE TABLE audit_organisationchain (
    organisation_id bigint PRIMARY KEY REFERENCES streams_organisation (id) ON DELETE CASCADE,
    first_number bigint NOT NULL,
    last_number bigint NOT NULL,
    last_hash bytea NOT NULL
) WITH (fillfactor = 50);
"""

APPEND = """
CREATE FUNCTION audit_append_organisation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE chain audit_organisationchain;
BEGIN
    IF NOT EXISTS (SELECT FROM streams_organisation WHERE id = NEW.organisation_id) THEN
        RETURN NULL;
    END IF;
    INSERT INTO audit_organisationchain (organisation_id, first_number, last_number, last_hash)
    VALUES (NEW.organisation_id, 1, 0, '') ON CONFLICT DO NOTHING;
    SELECT * INTO chain FROM audit_organisationchain WHERE organisation_id = NEW.organisation_id FOR UPDATE;
    NEW.number := chain.last_number + 1;
    NEW.at := clock_timestamp();
    NEW.role := session_user;
    NEW.previous_hash := chain.last_hash;
    NEW.hash := audit_hash(ROW(-NEW.organisation_id, NEW.number, NEW.at, NEW.role, NEW.actor, NEW.action, NEW.detail,
                               NEW.previous_hash, NULL)::audit_entry);
    UPDATE audit_organisationchain SET last_number = NEW.number, last_hash = NEW.hash
    WHERE organisation_id = NEW.organisation_id;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_append_organisation BEFORE INSERT ON audit_organisationentry
    FOR EACH ROW EXECUTE FUNCTION audit_append_organisation();
"""

GUARD = f"""
CREATE FUNCTION audit_guard_organisation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'DELETE' AND (
        OLD.at < now() - interval '24 hours' * {KEPT_DAYS}
        OR NOT EXISTS (SELECT FROM streams_organisation WHERE id = OLD.organisation_id)
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'The audit log only grows: entry % of organisation % stays as it is.',
        OLD.number, OLD.organisation_id USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_guard_organisation BEFORE UPDATE OR DELETE ON audit_organisationentry
    FOR EACH ROW EXECUTE FUNCTION audit_guard_organisation();
CREATE FUNCTION audit_end_organisation(of_organisation bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    chain audit_organisationchain;
    stays_from bigint;
    ended bigint;
BEGIN
    SELECT * INTO chain FROM audit_organisationchain WHERE organisation_id = of_organisation FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    SELECT coalesce(min(number), chain.last_number + 1) INTO stays_from FROM audit_organisationentry
    WHERE organisation_id = of_organisation AND at >= now() - interval '24 hours' * {KEPT_DAYS};
    UPDATE audit_organisationchain SET first_number = stays_from WHERE organisation_id = of_organisation;
    DELETE FROM audit_organisationentry WHERE organisation_id = of_organisation AND number < stays_from;
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END $$;
CREATE FUNCTION audit_note_of(of_organisation bigint, done text, about jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO audit_organisationentry (organisation_id, actor, action, detail)
    VALUES (of_organisation, audit_actor(), done, about::text)
$$;
"""

# Rows of one statement are one entry: a viewer may get 50 sites at once.
PEOPLE = """
CREATE FUNCTION audit_note_organisation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE about jsonb;
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.id, 'organisation.created', jsonb_build_object('name', NEW.name));
        RETURN NULL;
    END IF;
    SELECT jsonb_object_agg(key, jsonb_build_array(was.value, becomes.value)) INTO about
    FROM jsonb_each(to_jsonb(OLD) - 'created_at') was JOIN jsonb_each(to_jsonb(NEW) - 'created_at') becomes USING (key)
    WHERE was.value IS DISTINCT FROM becomes.value;
    IF about IS NOT NULL THEN
        PERFORM audit_note_of(NEW.id, 'organisation.changed', about);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_organisation AFTER INSERT OR UPDATE ON streams_organisation
    FOR EACH ROW EXECUTE FUNCTION audit_note_organisation();
CREATE FUNCTION audit_note_membership() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'member.added',
            jsonb_build_object('account', NEW.account_id, 'role', NEW.role));
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(OLD.organisation_id, 'member.removed',
            jsonb_build_object('account', OLD.account_id, 'role', OLD.role));
    ELSIF OLD.role <> NEW.role THEN
        PERFORM audit_note_of(NEW.organisation_id, 'member.changed',
            jsonb_build_object('account', NEW.account_id, 'role', jsonb_build_array(OLD.role, NEW.role)));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_membership AFTER INSERT OR UPDATE OR DELETE ON streams_membership
    FOR EACH ROW EXECUTE FUNCTION audit_note_membership();
CREATE FUNCTION audit_note_member_sites() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note_of(membership.organisation_id, TG_ARGV[0],
        jsonb_build_object('account', membership.account_id, 'sites', jsonb_agg(site.name ORDER BY site.name)))
    FROM changed
    JOIN streams_membership membership ON membership.id = changed.membership_id
    JOIN streams_site site ON site.id = changed.site_id
    GROUP BY membership.id;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_sites_added AFTER INSERT ON streams_membershipsite
    REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION audit_note_member_sites('member.sites_added');
CREATE TRIGGER audit_note_sites_removed AFTER DELETE ON streams_membershipsite
    REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION audit_note_member_sites('member.sites_removed');
CREATE FUNCTION audit_note_site() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE about jsonb;
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'site.created', jsonb_build_object('site', NEW.id, 'name', NEW.name));
        RETURN NULL;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(OLD.organisation_id, 'site.removed', jsonb_build_object('site', OLD.id, 'name', OLD.name));
        RETURN NULL;
    END IF;
    SELECT jsonb_object_agg(key, jsonb_build_array(was.value, becomes.value)) INTO about
    FROM jsonb_each(to_jsonb(OLD)) was JOIN jsonb_each(to_jsonb(NEW)) becomes USING (key)
    WHERE was.value IS DISTINCT FROM becomes.value;
    IF about IS NOT NULL THEN
        PERFORM audit_note_of(NEW.organisation_id, 'site.changed',
            jsonb_build_object('site', NEW.id, 'name', OLD.name, 'changes', about));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_site AFTER INSERT OR UPDATE OR DELETE ON streams_site
    FOR EACH ROW EXECUTE FUNCTION audit_note_site();
CREATE OR REPLACE FUNCTION audit_note_invitation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'member.invited',
            jsonb_build_object('address', audit_mask(NEW.email), 'role', NEW.role));
    ELSE
        PERFORM audit_note_of(OLD.organisation_id, 'invitation.ended',
            jsonb_build_object('address', audit_mask(OLD.email)));
    END IF;
    RETURN NULL;
END $$;
-- Without an active owner an organisation's streams stop.
CREATE OR REPLACE FUNCTION audit_note_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE one bigint;
BEGIN
    FOR one IN SELECT organisation_id FROM streams_membership WHERE account_id = NEW.id ORDER BY organisation_id LOOP
        PERFORM audit_note_of(one, 'account.changed',
            jsonb_build_object('account', NEW.id, 'is_active', jsonb_build_array(OLD.is_active, NEW.is_active)));
    END LOOP;
    RETURN NULL;
END $$;
DROP FUNCTION audit_note_member();
"""

# As before, without `owner_id`: a column for the release before, which a trigger fills in.
STREAM = """
CREATE OR REPLACE FUNCTION audit_note_stream() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    notes text[] := ARRAY['id', 'client_id', 'owner_id'] || ARRAY(
        SELECT attname::text FROM pg_attribute WHERE attrelid = TG_RELID AND atttypid = 'timestamptz'::regtype);
    about jsonb;
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note(NEW.id, 'stream.created', to_jsonb(NEW) - notes);
        RETURN NULL;
    END IF;
    SELECT jsonb_object_agg(key, jsonb_build_array(was.value, becomes.value)) INTO about
    FROM jsonb_each(to_jsonb(OLD) - notes) was JOIN jsonb_each(to_jsonb(NEW) - notes) becomes USING (key)
    WHERE was.value IS DISTINCT FROM becomes.value;
    IF about IS NOT NULL THEN
        PERFORM audit_note(NEW.id, 'stream.changed', about);
    END IF;
    RETURN NULL;
END $$;
"""

# The search path is set again: replacing a function forgets it.
CLOSE = """
DO $$ DECLARE ours regprocedure; BEGIN
    FOR ours IN SELECT oid FROM pg_proc
                WHERE pronamespace = current_schema()::regnamespace AND starts_with(proname, 'audit_')
    LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', ours, current_schema());
    END LOOP;
    FOR ours IN SELECT oid FROM pg_proc
                WHERE pronamespace = current_schema()::regnamespace AND starts_with(proname, 'audit_') AND prosecdef
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', ours);
    END LOOP;
END $$;
"""

FUNCTIONS_BEFORE = re.findall(
    r"FUNCTION audit_note_\w+\(\) RETURNS trigger.*?END \$\$;", BEFORE.STREAM + BEFORE.PEOPLE, re.DOTALL
)
UNDO = """
DROP TRIGGER audit_note_organisation ON streams_organisation;
DROP TRIGGER audit_note_membership ON streams_membership;
DROP TRIGGER audit_note_sites_added ON streams_membershipsite;
DROP TRIGGER audit_note_sites_removed ON streams_membershipsite;
DROP TRIGGER audit_note_site ON streams_site;
DROP TABLE audit_organisationentry, audit_organisationchain CASCADE;
DROP FUNCTION audit_note_organisation(), audit_note_membership(), audit_note_member_sites(), audit_note_site(),
    audit_note_of(bigint, text, jsonb), audit_end_organisation(bigint), audit_guard_organisation(),
    audit_append_organisation();
""" + "\n".join(f"CREATE OR REPLACE {text}" for text in FUNCTIONS_BEFORE)


class Migration(migrations.Migration):

    dependencies = [('audit', '0001_initial'), ('members', '0002_organisations'), ('streams', '0015_memberships')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(MAKE_TABLES + APPEND + GUARD + PEOPLE + STREAM + CLOSE, UNDO + CLOSE)
            ],
            state_operations=[
                migrations.CreateModel(
                    name='OrganisationEntry',
                    fields=[
                        ('pk', models.CompositePrimaryKey('organisation_id', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('number', models.BigIntegerField()),
                        ('at', models.DateTimeField()),
                        ('role', models.TextField()),
                        ('actor', models.TextField()),
                        ('action', models.TextField()),
                        ('detail', models.TextField()),
                        ('previous_hash', models.BinaryField()),
                        ('hash', models.BinaryField()),
                        ('organisation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='audit_log', to='streams.organisation')),
                    ],
                    options={'db_table': 'audit_organisationentry'},
                ),
                migrations.CreateModel(
                    name='OrganisationChain',
                    fields=[
                        ('organisation', models.OneToOneField(on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='audit_chain', serialize=False, to='streams.organisation')),
                        ('first_number', models.BigIntegerField()),
                        ('last_number', models.BigIntegerField()),
                        ('last_hash', models.BinaryField()),
                    ],
                    options={'db_table': 'audit_organisationchain'},
                ),
            ],
        ),
    ]
