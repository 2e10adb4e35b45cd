"""Visits, partitioned by month; what the database refused of them."""

import django.db.models.deletion
from django.db import migrations, models

import onlooker.visits.models

MAKE_VISITS = """
CREATE TABLE visits_visit (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    began_at timestamptz NOT NULL,
    id uuid NOT NULL,
    revision integer NOT NULL CHECK (revision >= 1),
    ended boolean NOT NULL,
    session text NOT NULL,
    present tstzmultirange NOT NULL CHECK (lower(present) = began_at),
    still tstzmultirange NOT NULL,
    looking tstzmultirange NOT NULL,
    age real CHECK (age BETWEEN 0 AND 150),
    age_confidence real NOT NULL CHECK (age_confidence BETWEEN 0 AND 1),
    gender text CHECK (gender IN ('male', 'female')),
    gender_confidence real NOT NULL CHECK (gender_confidence BETWEEN 0 AND 1),
    neutral real CHECK (neutral BETWEEN 0 AND 1),
    happiness real CHECK (happiness BETWEEN 0 AND 1),
    surprise real CHECK (surprise BETWEEN 0 AND 1),
    anger real CHECK (anger BETWEEN 0 AND 1),
    sadness real CHECK (sadness BETWEEN 0 AND 1),
    confidence real NOT NULL CHECK (confidence BETWEEN 0 AND 1),
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (stream_id, began_at, id)
) PARTITION BY RANGE (began_at);
-- Few visits are open at a time. Not over written_at: a row whose indexed columns stay can be updated in place.
CREATE INDEX visits_open ON visits_visit (session) WHERE NOT ended;
"""


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('streams', '0001_initial'),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_VISITS, 'DROP TABLE visits_visit')],
            state_operations=[
                migrations.CreateModel(
                    name='Visit',
                    fields=[
                        ('id', models.UUIDField(primary_key=True, serialize=False)),
                        ('began_at', models.DateTimeField()),
                        ('revision', models.IntegerField()),
                        ('ended', models.BooleanField()),
                        ('session', models.TextField()),
                        ('present', onlooker.visits.models.MomentsField()),
                        ('still', onlooker.visits.models.MomentsField()),
                        ('looking', onlooker.visits.models.MomentsField()),
                        ('age', models.FloatField(null=True)),
                        ('age_confidence', models.FloatField()),
                        ('gender', models.TextField(choices=[('male', 'Male'), ('female', 'Female')], null=True)),
                        ('gender_confidence', models.FloatField()),
                        ('neutral', models.FloatField(null=True)),
                        ('happiness', models.FloatField(null=True)),
                        ('surprise', models.FloatField(null=True)),
                        ('anger', models.FloatField(null=True)),
                        ('sadness', models.FloatField(null=True)),
                        ('confidence', models.FloatField()),
                        ('written_at', models.DateTimeField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='visits', to='streams.stream')),
                    ],
                ),
            ],
        ),
        migrations.CreateModel(
            name='PutAside',
            fields=[
                ('number', models.BigAutoField(primary_key=True, serialize=False)),
                ('visit_id', models.UUIDField(null=True)),
                ('reason', models.TextField()),
                ('detail', models.TextField()),
                ('payload', models.BinaryField()),
                ('put_aside_at', models.DateTimeField()),
                ('stream', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, to='streams.stream')),
            ],
        ),
    ]
