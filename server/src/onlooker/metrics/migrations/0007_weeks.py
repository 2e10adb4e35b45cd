"""Weeks: what is told about people of a grouped stream by gender and age together, frozen.

Expanding only: a release before this one goes on, and releases no weeks. `weeks_until` of a stream that has blocks
begins where these end, since older ones may tell what was told singly once.
"""

import django.db.models.deletion
from django.db import migrations, models

SUMS = ('still_us', 'looking_us', 'balance')
COUNTS = (
    'told', 'balance_of', 'emotion_neutral', 'emotion_happiness', 'emotion_surprise', 'emotion_anger', 'emotion_sadness',
)

MAKE_TABLES = f"""
-- Weeks that begin before are told, or never will be.
ALTER TABLE metrics_blockprogress ADD COLUMN weeks_until timestamptz NOT NULL DEFAULT '-infinity';
UPDATE metrics_blockprogress SET weeks_until = blocked_until;
-- The groups of genders and ages that are told only together, each as names with | between them.
CREATE TABLE metrics_week (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    begins_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    genders text[] NOT NULL,
    ages text[] NOT NULL,
    PRIMARY KEY (stream_id, begins_at)
);
-- What at least `groups_of` people of whole blocks that begin in the week add up to.
CREATE TABLE metrics_weekcell (
    stream_id bigint NOT NULL,
    begins_at timestamptz NOT NULL,
    gender text NOT NULL,
    age text NOT NULL,
    {', '.join(f'{column} bigint NOT NULL' for column in SUMS)},
    {', '.join(f'{column} integer NOT NULL' for column in COUNTS)},
    PRIMARY KEY (stream_id, begins_at, gender, age),
    FOREIGN KEY (stream_id, begins_at) REFERENCES metrics_week ON DELETE CASCADE
);
"""

MAKE_TRIGGERS = """
-- Whatever deletes a block deletes the week in which it begins, whole.
CREATE FUNCTION metrics_forget_week() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    DELETE FROM metrics_week
    WHERE stream_id = OLD.stream_id AND begins_at <= OLD.begins_at AND ends_at > OLD.begins_at;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION metrics_forget_week() FROM PUBLIC;
CREATE TRIGGER metrics_forget_week AFTER DELETE ON metrics_block FOR EACH ROW EXECUTE FUNCTION metrics_forget_week();
-- After metrics_group has put what was told singly into blocks: no week that begins before their end is ever told.
CREATE FUNCTION metrics_begin_weeks() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    UPDATE metrics_blockprogress SET weeks_until = greatest(weeks_until, blocked_until) WHERE stream_id = NEW.id;
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION metrics_begin_weeks() FROM PUBLIC;
CREATE TRIGGER metrics_begin_weeks AFTER UPDATE OF groups_of ON streams_stream
    FOR EACH ROW WHEN (OLD.groups_of = 1 AND NEW.groups_of > 1) EXECUTE FUNCTION metrics_begin_weeks();
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION metrics_forget_week() SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION metrics_begin_weeks() SET search_path = %I, pg_temp', current_schema());
END $$;
"""

DROP = """
DROP TRIGGER metrics_begin_weeks ON streams_stream;
DROP FUNCTION metrics_begin_weeks();
DROP TRIGGER metrics_forget_week ON metrics_block;
DROP FUNCTION metrics_forget_week();
DROP TABLE metrics_weekcell, metrics_week;
ALTER TABLE metrics_blockprogress DROP COLUMN weeks_until;
"""


class Migration(migrations.Migration):

    dependencies = [('metrics', '0006_days'), ('streams', '0013_groups')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_TABLES + MAKE_TRIGGERS, DROP)],
            state_operations=[
                migrations.CreateModel(
                    name='Week',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'begins_at', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('begins_at', models.DateTimeField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='weeks', to='streams.stream')),
                    ],
                ),
            ],
        ),
    ]
