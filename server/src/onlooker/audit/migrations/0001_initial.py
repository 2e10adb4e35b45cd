"""The audit log: entries that the database itself numbers and chains, and triggers that write them.

Whatever process changes a stream, a member or a Password, also one of the release before, its change is logged. Nothing
is changed in tables that are there; a process of the release before goes on as it did.
"""

import django.db.models.deletion
from django.db import migrations, models

KEPT_DAYS = 365

MAKE_TABLES = """
CREATE TABLE audit_entry (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    number bigint NOT NULL,
    at timestamptz NOT NULL,
    role text NOT NULL,
    actor text NOT NULL,
    action text NOT NULL,
    detail text NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (stream_id, number)
);
-- One row a stream. Locked by those who append, until they commit: so no chain has two ends.
CREATE TABLE audit_chain (
    stream_id bigint PRIMARY KEY REFERENCES streams_stream (id) ON DELETE CASCADE,
    first_number bigint NOT NULL,
    last_number bigint NOT NULL,
    last_hash bytea NOT NULL
) WITH (fillfactor = 50);
"""

# Parts are hashed with their lengths, so that no two entries have the same text. `chain.py` computes the same.
HASH = """
CREATE FUNCTION audit_hash(entry audit_entry) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(string_agg(convert_to(octet_length(bytes) || ':', 'UTF8') || bytes, ','::bytea ORDER BY place))
    FROM (SELECT convert_to(part, 'UTF8') AS bytes, place FROM unnest(ARRAY[
        encode(entry.previous_hash, 'hex'), entry.stream_id::text, entry.number::text,
        to_char(entry.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
        entry.role, entry.actor, entry.action, entry.detail]) WITH ORDINALITY AS given (part, place)) parts
$$;
"""

APPEND = """
-- A stream that is being removed gets no entries: what is left of it goes.
CREATE FUNCTION audit_append() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE chain audit_chain;
BEGIN
    IF NOT EXISTS (SELECT FROM streams_stream WHERE id = NEW.stream_id AND removed_at IS NULL) THEN
        RETURN NULL;
    END IF;
    INSERT INTO audit_chain (stream_id, first_number, last_number, last_hash)
    VALUES (NEW.stream_id, 1, 0, '') ON CONFLICT DO NOTHING;
    SELECT * INTO chain FROM audit_chain WHERE stream_id = NEW.stream_id FOR UPDATE;
    NEW.number := chain.last_number + 1;
    NEW.at := clock_timestamp();
    NEW.role := session_user;
    NEW.previous_hash := chain.last_hash;
    NEW.hash := audit_hash(NEW);
    UPDATE audit_chain SET last_number = NEW.number, last_hash = NEW.hash WHERE stream_id = NEW.stream_id;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_append BEFORE INSERT ON audit_entry FOR EACH ROW EXECUTE FUNCTION audit_append();
"""

# For those whom no grant stops: the tables' owner.
GUARD = f"""
CREATE FUNCTION audit_kept_since(of_stream bigint) RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT now() - interval '24 hours' * coalesce(
        (SELECT days FROM audit_retention WHERE stream_id = of_stream), {KEPT_DAYS})
$$;
CREATE FUNCTION audit_guard() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'DELETE' AND (
        OLD.at < audit_kept_since(OLD.stream_id)
        OR NOT EXISTS (SELECT FROM streams_stream WHERE id = OLD.stream_id AND removed_at IS NULL)
    ) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'The audit log only grows: entry % of stream % stays as it is.', OLD.number, OLD.stream_id
        USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_guard BEFORE UPDATE OR DELETE ON audit_entry FOR EACH ROW EXECUTE FUNCTION audit_guard();
"""

# Only whole beginnings of a log go, and all of it with its stream. What stays can still be checked.
END = """
CREATE FUNCTION audit_end(of_stream bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    chain audit_chain;
    stays_from bigint;
    ended bigint;
BEGIN
    SELECT * INTO chain FROM audit_chain WHERE stream_id = of_stream FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    IF EXISTS (SELECT FROM streams_stream WHERE id = of_stream AND removed_at IS NULL) THEN
        SELECT coalesce(min(number), chain.last_number + 1) INTO stays_from FROM audit_entry
        WHERE stream_id = of_stream AND at >= audit_kept_since(of_stream);
        UPDATE audit_chain SET first_number = stays_from WHERE stream_id = of_stream;
    ELSE
        stays_from := chain.last_number + 1;
        DELETE FROM audit_chain WHERE stream_id = of_stream;
    END IF;
    DELETE FROM audit_entry WHERE stream_id = of_stream AND number < stays_from;
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END $$;
"""

NOTE = """
-- Set by those who act, for the transaction; what nobody has set is the role that is connected.
CREATE FUNCTION audit_actor() RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(nullif(current_setting('onlooker.actor', true), ''), 'role:' || session_user)
$$;
CREATE FUNCTION audit_note(of_stream bigint, done text, about jsonb) RETURNS void LANGUAGE sql AS $$
    INSERT INTO audit_entry (stream_id, actor, action, detail) VALUES (of_stream, audit_actor(), done, about::text)
$$;
"""

# Every column of a stream is a setting, except its ids and moments, which are the product's own notes.
STREAM = """
CREATE FUNCTION audit_note_stream() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    notes text[] := ARRAY['id', 'client_id'] || ARRAY(
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
CREATE TRIGGER audit_note_created AFTER INSERT ON streams_stream
    FOR EACH ROW EXECUTE FUNCTION audit_note_stream();
CREATE TRIGGER audit_note_changed AFTER UPDATE ON streams_stream
    FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*) EXECUTE FUNCTION audit_note_stream();
"""

# By its number, never its hash. That one is deleted which has ended is housekeeping.
PASSWORD = """
CREATE FUNCTION audit_note_password() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note(NEW.stream_id, 'password.created',
            jsonb_build_object('password', NEW.id, 'trial', NEW.is_trial, 'ends', NEW.expires_at));
    ELSIF TG_OP = 'UPDATE' THEN
        PERFORM audit_note(NEW.stream_id, 'password.changed',
            jsonb_build_object('password', NEW.id, 'ends', NEW.expires_at));
    ELSIF OLD.expires_at IS NULL OR OLD.expires_at > now() THEN
        PERFORM audit_note(OLD.stream_id, 'password.deleted', jsonb_build_object('password', OLD.id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_password AFTER INSERT OR UPDATE OR DELETE ON streams_accesstoken
    FOR EACH ROW EXECUTE FUNCTION audit_note_password();
"""

# An invited address is not kept whole: it may belong to somebody who never accepts.
PEOPLE = """
CREATE FUNCTION audit_note_member() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note(NEW.stream_id, 'member.added', jsonb_build_object('account', NEW.account_id));
    ELSE
        PERFORM audit_note(OLD.stream_id, 'member.removed', jsonb_build_object('account', OLD.account_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_member AFTER INSERT OR DELETE ON streams_member
    FOR EACH ROW EXECUTE FUNCTION audit_note_member();
CREATE FUNCTION audit_mask(email text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT regexp_replace(email, '^(.?).*(@[^@]*)$', '\\1...\\2')
$$;
CREATE FUNCTION audit_note_invitation() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note(NEW.stream_id, 'member.invited', jsonb_build_object('address', audit_mask(NEW.email)));
    ELSE
        PERFORM audit_note(OLD.stream_id, 'invitation.ended', jsonb_build_object('address', audit_mask(OLD.email)));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_invitation AFTER INSERT OR DELETE ON members_invitation
    FOR EACH ROW EXECUTE FUNCTION audit_note_invitation();
-- An account that is not active stops its streams. Always in the same order, as wherever several are locked.
CREATE FUNCTION audit_note_account() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE owned bigint;
BEGIN
    FOR owned IN SELECT id FROM streams_stream WHERE owner_id = NEW.id AND removed_at IS NULL ORDER BY id LOOP
        PERFORM audit_note(owned, 'account.changed',
            jsonb_build_object('account', NEW.id, 'is_active', jsonb_build_array(OLD.is_active, NEW.is_active)));
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_account AFTER UPDATE ON accounts_account
    FOR EACH ROW WHEN (OLD.is_active <> NEW.is_active) EXECUTE FUNCTION audit_note_account();
"""

RETENTION = f"""
CREATE FUNCTION audit_note_retention() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE was integer := CASE WHEN TG_OP = 'INSERT' THEN {KEPT_DAYS} ELSE OLD.days END;
BEGIN
    IF was <> NEW.days THEN
        PERFORM audit_note(NEW.stream_id, 'stream.changed',
            jsonb_build_object('audit_days', jsonb_build_array(was, NEW.days)));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_retention AFTER INSERT OR UPDATE ON audit_retention
    FOR EACH ROW EXECUTE FUNCTION audit_note_retention();
"""

# Temporary tables last: nobody's own table stands in for ours. The others do nothing that their caller may not.
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
MAKE_TRIGGERS = HASH + APPEND + GUARD + END + NOTE + STREAM + PASSWORD + PEOPLE + RETENTION + CLOSE
DROP_TRIGGERS = """
DROP TRIGGER audit_note_created ON streams_stream;
DROP TRIGGER audit_note_changed ON streams_stream;
DROP TRIGGER audit_note_password ON streams_accesstoken;
DROP TRIGGER audit_note_member ON streams_member;
DROP TRIGGER audit_note_invitation ON members_invitation;
DROP TRIGGER audit_note_account ON accounts_account;
DROP TRIGGER audit_note_retention ON audit_retention;
DROP TRIGGER audit_append ON audit_entry;
DROP TRIGGER audit_guard ON audit_entry;
DROP FUNCTION audit_note_stream(), audit_note_password(), audit_note_member(), audit_note_invitation(),
    audit_note_account(), audit_note_retention(), audit_note(bigint, text, jsonb), audit_actor(), audit_mask(text),
    audit_end(bigint), audit_guard(), audit_kept_since(bigint), audit_append(), audit_hash(audit_entry);
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [('accounts', '0001_initial'), ('members', '0001_initial'), ('streams', '0011_device')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_TABLES, 'DROP TABLE audit_entry, audit_chain')],
            state_operations=[
                migrations.CreateModel(
                    name='AuditEntry',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'number', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('number', models.BigIntegerField()),
                        ('at', models.DateTimeField()),
                        ('role', models.TextField()),
                        ('actor', models.TextField()),
                        ('action', models.TextField()),
                        ('detail', models.TextField()),
                        ('previous_hash', models.BinaryField()),
                        ('hash', models.BinaryField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='audit_log', to='streams.stream')),
                    ],
                    options={'db_table': 'audit_entry'},
                ),
                migrations.CreateModel(
                    name='AuditChain',
                    fields=[
                        ('stream', models.OneToOneField(on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='audit_chain', serialize=False, to='streams.stream')),
                        ('first_number', models.BigIntegerField()),
                        ('last_number', models.BigIntegerField()),
                        ('last_hash', models.BinaryField()),
                    ],
                    options={'db_table': 'audit_chain'},
                ),
            ],
        ),
        migrations.CreateModel(
            name='AuditRetention',
            fields=[
                ('stream', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='audit_retention', serialize=False, to='streams.stream')),
                ('days', models.PositiveSmallIntegerField()),
            ],
            options={'db_table': 'audit_retention'},
        ),
        migrations.AddConstraint(
            model_name='auditretention',
            constraint=models.CheckConstraint(condition=models.Q(('days__range', (1, 3650))), name='audit_days_in_range'),
        ),
        migrations.RunSQL(MAKE_TRIGGERS, DROP_TRIGGERS),
    ]
