"""The roll-up of visits by slots of 15 minutes, and by which definitions it was made."""

import django.db.models.deletion
from django.db import migrations, models

MAKE_TABLES = """
-- What the visits that begin in a slot add up to, each judged whole. A column a figure: definitions.py.
CREATE TABLE metrics_slot (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    slot_at timestamptz NOT NULL,
    reaches_at timestamptz NOT NULL,
    far smallint NOT NULL GENERATED ALWAYS AS (
        CASE WHEN reaches_at - slot_at <= interval '30 minutes' THEN 0
             WHEN reaches_at - slot_at <= interval '4 hours' THEN 1
             WHEN reaches_at - slot_at <= interval '32 hours' THEN 2
             WHEN reaches_at - slot_at <= interval '256 hours' THEN 3
             ELSE 4 END) STORED,
    still_us bigint NOT NULL,
    looking_us bigint NOT NULL,
    balance bigint NOT NULL,
    passing_by integer NOT NULL,
    interested integer NOT NULL,
    senior_female integer NOT NULL,
    senior_male integer NOT NULL,
    young_female integer NOT NULL,
    young_male integer NOT NULL,
    gender_unknown integer NOT NULL,
    gender_female integer NOT NULL,
    gender_male integer NOT NULL,
    balance_of integer NOT NULL,
    age_0_14 integer NOT NULL,
    age_15_24 integer NOT NULL,
    age_25_34 integer NOT NULL,
    age_35_44 integer NOT NULL,
    age_45_54 integer NOT NULL,
    age_55_64 integer NOT NULL,
    age_65_up integer NOT NULL,
    age_unknown integer NOT NULL,
    emotion_neutral integer NOT NULL,
    emotion_happiness integer NOT NULL,
    emotion_surprise integer NOT NULL,
    emotion_anger integer NOT NULL,
    emotion_sadness integer NOT NULL,
    emotion_unknown integer NOT NULL,
    PRIMARY KEY (stream_id, slot_at)
) WITH (fillfactor = 90);
-- Few: slots with a visit that reaches beyond the slot after it. Who looks for visits across a moment looks, by how far
-- they reach, only at slots so long before it.
CREATE INDEX metrics_slot_far ON metrics_slot (stream_id, far, slot_at) WHERE far > 0;
-- One row: what the roll-up was made by. When that changes, all slots are marked and filled again.
CREATE TABLE metrics_state (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    senior_age real NOT NULL,
    definitions text NOT NULL,
    marked_up_to bigint  -- the stream up to which all slots are marked; NULL once all streams' are
);
INSERT INTO metrics_state (senior_age, definitions) VALUES (50, '');
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [('streams', '0003_console'), ('visits', '0002_marks')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_TABLES, 'DROP TABLE metrics_slot, metrics_state')],
            state_operations=[
                migrations.CreateModel(
                    name='Slot',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'slot_at', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('slot_at', models.DateTimeField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='streams.stream')),
                    ],
                ),
            ],
        ),
    ]
