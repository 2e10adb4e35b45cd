"""What owners enter for documents, and a history that a trigger writes.

The trigger runs as the owner of the tables: every change of a stream, from a page, a command or a release before this
one, leaves a row, and no process may write one otherwise.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

STREAM_COLUMNS = (
    "enabled",
    "reads_age",
    "reads_gender",
    "reads_expression",
    "compute",
    "retention_days",
    "reads_faces",
    "groups_of",
    "hours",
)
DETAIL_COLUMNS = (
    "controller",
    "address",
    "contact",
    "officer",
    "recipients",
    "place",
    "purpose_en",
    "purpose_fr",
    "purpose_de",
    "legal_basis",
)

# The database itself deletes a stream's versions: each stream has one from its first moment on.
REFERENCE = """
ALTER TABLE notices_noticeversion ADD CONSTRAINT notices_noticeversion_stream
    FOREIGN KEY (stream_id) REFERENCES streams_stream (id) ON DELETE CASCADE;
"""

KEEP = """
-- Arguments: the column with the stream's id, then the columns that documents depend on.
CREATE FUNCTION notices_keep() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    wanted text[] := TG_ARGV[1:TG_NARGS - 1];
    now_held jsonb;
    held_before jsonb;
BEGIN
    SELECT jsonb_object_agg(key, value) INTO now_held FROM jsonb_each(to_jsonb(NEW)) WHERE key = ANY(wanted);
    IF TG_OP = 'UPDATE' THEN
        SELECT jsonb_object_agg(key, value) INTO held_before FROM jsonb_each(to_jsonb(OLD)) WHERE key = ANY(wanted);
    END IF;
    -- A new row with nothing entered in it says nothing yet.
    IF TG_OP = 'INSERT' AND NOT EXISTS (SELECT FROM jsonb_each_text(now_held) WHERE value <> '') THEN
        RETURN NULL;
    END IF;
    IF now_held IS DISTINCT FROM held_before THEN
        INSERT INTO notices_noticeversion (stream_id, at, subject, held)
        VALUES ((to_jsonb(NEW) ->> TG_ARGV[0])::bigint, clock_timestamp(), TG_TABLE_NAME, now_held);
    END IF;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION notices_keep() FROM PUBLIC;
-- Temporary tables last: nobody's own table stands in for ours.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION notices_keep() SET search_path = %I, pg_temp', current_schema());
END $$;
"""


def keep_columns(table: str, stream_column: str, columns: tuple[str, ...]) -> str:
    """The trigger of a table; a later migration replaces it when documents depend on more columns."""
    arguments = ", ".join(f"'{name}'" for name in (stream_column, *columns))
    return (
        f"CREATE OR REPLACE TRIGGER notices_keep AFTER INSERT OR UPDATE ON {table}"
        f" FOR EACH ROW EXECUTE FUNCTION notices_keep({arguments});"
    )


def held_now(columns: tuple[str, ...]) -> str:
    """Streams that are there already: what held before this release is not known."""
    pairs = ", ".join(f"'{name}', {name}" for name in columns)
    return (
        "INSERT INTO notices_noticeversion (stream_id, at, subject, held)"
        f" SELECT id, now(), 'streams_stream', jsonb_build_object({pairs}) FROM streams_stream"
        " WHERE removed_at IS NULL;"
    )


UNDO = """
DROP TRIGGER notices_keep ON streams_stream;
DROP TRIGGER notices_keep ON notices_noticedetails;
DROP FUNCTION notices_keep();
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('streams', '0013_groups'),
    ]

    operations = [
        migrations.CreateModel(
            name='NoticeDetails',
            fields=[
                ('stream', models.OneToOneField(db_index=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='notice_details', serialize=False, to='streams.stream')),
                ('controller', models.CharField(blank=True, db_default='', default='', max_length=100)),
                ('address', models.CharField(blank=True, db_default='', default='', max_length=160)),
                ('contact', models.CharField(blank=True, db_default='', default='', max_length=100)),
                ('officer', models.CharField(blank=True, db_default='', default='', max_length=100)),
                ('recipients', models.CharField(blank=True, db_default='', default='', max_length=160)),
                ('place', models.CharField(blank=True, db_default='', default='', max_length=100)),
                ('purpose_en', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('purpose_fr', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('purpose_de', models.CharField(blank=True, db_default='', default='', max_length=200)),
                ('legal_basis', models.CharField(blank=True, choices=[('', 'Not decided yet'), ('interests', 'Legitimate interests, article 6(1)(f)'), ('task', 'A task in the public interest, article 6(1)(e)'), ('consent', 'Consent, article 6(1)(a)')], db_default='', default='', max_length=20)),
                ('is_public', models.BooleanField(db_default=False, default=False)),
                ('public_key', models.CharField(editable=False, max_length=40, null=True, unique=True)),
            ],
        ),
        migrations.CreateModel(
            name='NoticeVersion',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('subject', models.TextField()),
                ('held', models.JSONField()),
                ('stream', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notice_versions', to='streams.stream')),
            ],
            options={
                'indexes': [models.Index(fields=['stream', 'subject', '-id'], name='newest_notice_version')],
            },
        ),
        migrations.RunSQL(
            REFERENCE
            + KEEP
            + keep_columns('streams_stream', 'id', STREAM_COLUMNS)
            + keep_columns('notices_noticedetails', 'stream_id', DETAIL_COLUMNS)
            + held_now(STREAM_COLUMNS),
            UNDO,
        ),
    ]
