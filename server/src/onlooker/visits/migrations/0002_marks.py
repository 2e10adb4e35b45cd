"""Which slots have changed visits, and from when on a stream's visits are all there."""

import django.db.models.deletion
from django.db import migrations, models

MAKE_TABLES = """
-- Slots of 15 minutes in which visits begin that changed since their roll-up was filled. Marked again and again, so
-- half of each page stays free.
CREATE TABLE visits_mark (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    slot_at timestamptz NOT NULL,
    reaches_at timestamptz NOT NULL,
    marked_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stream_id, slot_at)
) WITH (fillfactor = 50);
CREATE INDEX visits_mark_due ON visits_mark (marked_at);
-- Before that moment, the start of a slot, visits were deleted after their time.
CREATE TABLE visits_kept (
    stream_id bigint PRIMARY KEY REFERENCES streams_stream (id) ON DELETE CASCADE,
    since timestamptz NOT NULL
);
-- What was deleted so far was not written down, and did not end with a slot.
INSERT INTO visits_kept (stream_id, since)
SELECT id, date_bin('15 minutes', now() - retention_days * interval '24 hours', 'epoch') + interval '15 minutes'
FROM streams_stream WHERE created_at < now() - retention_days * interval '24 hours';
ALTER TABLE visits_visit ADD CONSTRAINT visits_visit_has_presence CHECK (NOT isempty(present));
"""


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0003_console'),
        ('visits', '0001_initial'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_TABLES, 'DROP TABLE visits_mark, visits_kept; ALTER TABLE visits_visit DROP CONSTRAINT visits_visit_has_presence')],
            state_operations=[
                migrations.CreateModel(
                    name='Mark',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'slot_at', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('slot_at', models.DateTimeField()),
                        ('reaches_at', models.DateTimeField()),
                        ('marked_at', models.DateTimeField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='marks', to='streams.stream')),
                    ],
                ),
                migrations.CreateModel(
                    name='Kept',
                    fields=[
                        ('stream', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='kept', serialize=False, to='streams.stream')),
                        ('since', models.DateTimeField()),
                    ],
                ),
            ],
        ),
    ]
