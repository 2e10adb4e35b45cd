"""Sums of whole hours beside those of slots, of what was watched and how well. The database itself keeps them equal."""

import django.db.models.deletion
from django.db import migrations, models

FACES = [f'faces_{number}' for number in range(1, 17)]
COUNTS = ['frames', 'dark_frames', 'face_frames', *FACES]
SUMS = [*COUNTS, 'video_s', 'face_video_s']

MAKE_TABLES = f"""
CREATE TABLE metrics_coveragehour (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    hour_at timestamptz NOT NULL,
    slots integer NOT NULL,
    covered_s float8 NOT NULL,
    PRIMARY KEY (stream_id, hour_at)
) WITH (fillfactor = 90);
CREATE TABLE metrics_qualityhour (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    hour_at timestamptz NOT NULL,
    models_version text NOT NULL,
    pipeline_version text NOT NULL,
    since_at timestamptz NOT NULL,  -- the first of its slots
    slots integer NOT NULL,
    video_s float8 NOT NULL,
    face_video_s float8 NOT NULL,
    {', '.join(f'{column} integer NOT NULL' for column in COUNTS)},
    PRIMARY KEY (stream_id, hour_at, models_version, pipeline_version)
) WITH (fillfactor = 90);
"""

COVERAGE = {
    'table': 'metrics_coveragehour',
    'columns': 'stream_id, hour_at, slots, covered_s',
    'key': ['stream_id', 'hour_at'],
    'sums': """SELECT stream_id, date_bin('1 hour', slot_at, 'epoch') AS hour_at, sum(sign) AS slots,
                      sum(sign * least(video_s, 900)) AS covered_s
               FROM ({changed}) changed GROUP BY 1, 2""",
    'updates': 'slots = known.slots + told.slots, covered_s = known.covered_s + told.covered_s',
}
QUALITY = {
    'table': 'metrics_qualityhour',
    'columns': f"stream_id, hour_at, models_version, pipeline_version, since_at, slots, {', '.join(SUMS)}",
    'key': ['stream_id', 'hour_at', 'models_version', 'pipeline_version'],
    'sums': f"""SELECT stream_id, date_bin('1 hour', slot_at, 'epoch') AS hour_at, models_version, pipeline_version,
                       min(slot_at) AS since_at, sum(sign) AS slots,
                       {', '.join(f'sum(sign * {column}) AS {column}' for column in COUNTS[:3])},
                       {', '.join(f'sum(sign * faces[{number}]) AS {column}' for number, column in enumerate(FACES, 1))},
                       sum(sign * video_s) AS video_s, sum(sign * face_video_s) AS face_video_s
                FROM ({{changed}}) changed GROUP BY 1, 2, 3, 4""",
    'updates': 'since_at = least(known.since_at, told.since_at), '
    + ', '.join(f'{column} = known.{column} + told.{column}' for column in ('slots', *SUMS)),
}
ADDED = 'SELECT 1 AS sign, * FROM added'
REMOVED = 'SELECT -1 AS sign, * FROM removed'


def make_triggers(slots: str, hours: dict) -> str:
    """What a statement changes is added, so that two that run side by side lose nothing. Rows are locked in order."""
    table, key = hours['table'], ', '.join(hours['key'])
    add = f"""INSERT INTO {table} AS known ({hours['columns']})
              {hours['sums']} ORDER BY {key}
              ON CONFLICT ({key}) DO UPDATE SET {hours['updates'].replace('told.', 'excluded.')}"""
    same = ' AND '.join(f'known.{column} = told.{column}' for column in hours['key'])
    subtract = f"""UPDATE {table} known SET {hours['updates']} FROM ({hours['sums']}) told WHERE {same};
                   DELETE FROM {table} known USING (SELECT DISTINCT {key} FROM ({hours['sums']}) sums) told
                   WHERE known.slots = 0 AND {same}"""
    return ''.join(
        f"""
CREATE FUNCTION {table}_{event}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    {statement.format(changed=changed)};
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION {table}_{event}() FROM PUBLIC;
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION {table}_{event}() SET search_path = %I, pg_temp', current_schema());
END $$;
CREATE TRIGGER {table}_{event} AFTER {event} ON {slots} {referencing}
    FOR EACH STATEMENT EXECUTE FUNCTION {table}_{event}();
"""
        for event, referencing, statement, changed in (
            ('insert', 'REFERENCING NEW TABLE AS added', add, ADDED),
            ('update', 'REFERENCING NEW TABLE AS added OLD TABLE AS removed', add, f'{ADDED} UNION ALL {REMOVED}'),
            ('delete', 'REFERENCING OLD TABLE AS removed', subtract, REMOVED),
        )
    )


def fill(slots: str, hours: dict) -> str:
    everything = hours['sums'].format(changed=f'SELECT 1 AS sign, * FROM {slots}')
    return f"INSERT INTO {hours['table']} ({hours['columns']}) {everything};"


# Nobody writes between the filling and the triggers.
LOCK = 'LOCK streams_coverage, streams_quality IN SHARE ROW EXCLUSIVE MODE;'
MAKE_SUMS = LOCK + ''.join(
    make_triggers(slots, hours) + fill(slots, hours)
    for slots, hours in (('streams_coverage', COVERAGE), ('streams_quality', QUALITY))
)
DROP = """
DROP TABLE metrics_coveragehour, metrics_qualityhour;
""" + ''.join(
    f'DROP TRIGGER {table}_{event} ON {slots}; DROP FUNCTION {table}_{event}();'
    for slots, table in (('streams_coverage', 'metrics_coveragehour'), ('streams_quality', 'metrics_qualityhour'))
    for event in ('insert', 'update', 'delete')
)


class Migration(migrations.Migration):

    dependencies = [('metrics', '0002_after_retention'), ('streams', '0010_quality')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_TABLES + MAKE_SUMS, DROP)],
            state_operations=[
                migrations.CreateModel(
                    name='CoverageHour',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'hour_at', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('hour_at', models.DateTimeField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='coverage_hours', to='streams.stream')),
                    ],
                ),
                migrations.CreateModel(
                    name='QualityHour',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'hour_at', 'models_version', 'pipeline_version', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('hour_at', models.DateTimeField()),
                        ('models_version', models.TextField()),
                        ('pipeline_version', models.TextField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='quality_hours', to='streams.stream')),
                    ],
                ),
            ],
        ),
    ]
