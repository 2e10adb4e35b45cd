"""Sums of local days beside those of slots, of what was counted and what was watched. The database keeps them equal.

A slot or a block belongs to the local day of its stream in which it begins. Only whole numbers are added up, so that
adding and subtracting leave nothing behind. A change of a stream's time zone adds up its days again.

Filling is one statement a table. Writers of slots, blocks and coverage wait meanwhile.
"""

import django.db.models.deletion
from django.db import migrations, models

BLOCK_SUMS = ('still_us', 'looking_us', 'balance')
BLOCK_COUNTS = (
    'told', 'senior_female', 'senior_male', 'young_female', 'young_male', 'balance_of',
    'gender_female', 'gender_male',
    'age_0_14', 'age_15_24', 'age_25_34', 'age_35_44', 'age_45_54', 'age_55_64', 'age_65_up',
    'emotion_neutral', 'emotion_happiness', 'emotion_surprise', 'emotion_anger', 'emotion_sadness',
    'gender_unknown', 'age_unknown', 'emotion_unknown',
)
ABOUT_PEOPLE = (*BLOCK_SUMS, *BLOCK_COUNTS)
COUNTS = ('passing_by', 'interested', 'stopped')
FIGURES = (*COUNTS, *ABOUT_PEOPLE)
SLOT_MS = 900_000

MAKE_TABLES = f"""
CREATE TABLE metrics_day (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    day date NOT NULL,
    slots integer NOT NULL,
    blocks integer NOT NULL,
    {', '.join(f'{column} bigint NOT NULL' for column in FIGURES)},
    PRIMARY KEY (stream_id, day)
) WITH (fillfactor = 90);
-- Seconds of video in thousandths, so that sums are exact. A slot has at most its own length of each.
CREATE TABLE metrics_daycoverage (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    day date NOT NULL,
    slots integer NOT NULL,
    faults integer NOT NULL,
    watched_ms bigint NOT NULL,
    blind_ms bigint NOT NULL,
    PRIMARY KEY (stream_id, day)
) WITH (fillfactor = 80);
-- A zone that this server does not know counts as UTC: no writer may fail for it.
CREATE FUNCTION metrics_known_zone(zone text) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    PERFORM now() AT TIME ZONE zone;
    RETURN zone;
EXCEPTION WHEN invalid_parameter_value THEN
    RETURN 'UTC';
END $$;
"""

DAY, DAY_COVERAGE = 'metrics_day', 'metrics_daycoverage'
KEPT = {
    DAY: ('slots', 'blocks', *FIGURES),
    DAY_COVERAGE: ('slots', 'faults', 'watched_ms', 'blind_ms'),
}
"""What is added up; a row goes once its first two are 0."""


def sum_of(column: str) -> str:
    """Rows of an earlier release have no `told`, which stands for all of their interested people."""
    return f"sum(sign * {'coalesce(told, interested)' if column == 'told' else column}) AS {column}"


def thousandths(column: str) -> str:
    return f"sum(sign * round(least(video_s * 1000, {SLOT_MS}))::bigint) AS {column}"


SOURCES = {
    'metrics_slot': (DAY, 'slot_at', ['sum(sign) AS slots', '0 AS blocks', *map(sum_of, FIGURES)]),
    'metrics_block': (
        DAY,
        'begins_at',
        [
            '0 AS slots',
            'sum(sign) AS blocks',
            *(f'0 AS {column}' for column in COUNTS),
            *(f'sum(sign * {column}) AS {column}' for column in ABOUT_PEOPLE),
        ],
    ),
    'streams_coverage': (
        DAY_COVERAGE,
        'slot_at',
        ['sum(sign) AS slots', '0 AS faults', thousandths('watched_ms'), '0 AS blind_ms'],
    ),
    'streams_blindness': (
        DAY_COVERAGE,
        'slot_at',
        ['0 AS slots', 'sum(sign) AS faults', '0 AS watched_ms', thousandths('blind_ms')],
    ),
}
"""Where each is from: the table of the days, when a row begins, and what it adds."""
ADDED = 'SELECT 1 AS sign, * FROM added'
REMOVED = 'SELECT -1 AS sign, * FROM removed'


def sums_of(source: str, changed: str) -> str:
    """By stream and local day; of a stream that is gone nothing is kept."""
    _, begins, sums = SOURCES[source]
    return f"""SELECT stream_id, ({begins} AT TIME ZONE zone)::date AS day, {', '.join(sums)}
               FROM ({changed}) changed
               JOIN (SELECT id AS stream_id, metrics_known_zone(time_zone) AS zone FROM streams_stream
                     WHERE id IN (SELECT stream_id FROM ({changed}) changed) OFFSET 0) stream USING (stream_id)
               GROUP BY 1, 2"""


def add(source: str, changed: str) -> str:
    """Rows are locked in order."""
    table = SOURCES[source][0]
    columns = KEPT[table]
    updates = ', '.join(f'{column} = known.{column} + excluded.{column}' for column in columns)
    return f"""INSERT INTO {table} AS known (stream_id, day, {', '.join(columns)})
               {sums_of(source, changed)} ORDER BY 1, 2
               ON CONFLICT (stream_id, day) DO UPDATE SET {updates}"""


def subtract(source: str) -> str:
    """A row that nothing adds to any more goes. It was locked by the first statement, in order."""
    table = SOURCES[source][0]
    first, second, *_ = KEPT[table]
    return f"""{add(source, REMOVED)};
               DELETE FROM {table} known USING (SELECT DISTINCT stream_id, day FROM ({sums_of(source, REMOVED)}) sums) told
               WHERE known.stream_id = told.stream_id AND known.day = told.day
                 AND known.{first} = 0 AND known.{second} = 0"""


def make_function(name: str, body: str) -> str:
    """Runs with the rights of the tables' owner: who writes slots needs no right to their sums."""
    return f"""
CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    {body};
    RETURN NULL;
END $$;
REVOKE EXECUTE ON FUNCTION {name}() FROM PUBLIC;
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION {name}() SET search_path = %I, pg_temp', current_schema());
END $$;
"""


def trigger_name(source: str, event: str) -> str:
    return f"metrics_day_{source.partition('_')[2]}_{event}"


def make_triggers(source: str) -> str:
    """What a statement changes is added, so that two that run side by side lose nothing."""
    both = f'{ADDED} UNION ALL {REMOVED}'
    return ''.join(
        make_function(trigger_name(source, event), body)
        + f"""CREATE TRIGGER {trigger_name(source, event)} AFTER {event} ON {source} {referencing}
                  FOR EACH STATEMENT EXECUTE FUNCTION {trigger_name(source, event)}();"""
        for event, referencing, body in (
            ('insert', 'REFERENCING NEW TABLE AS added', add(source, ADDED)),
            ('update', 'REFERENCING NEW TABLE AS added OLD TABLE AS removed', add(source, both)),
            ('delete', 'REFERENCING OLD TABLE AS removed', subtract(source)),
        )
    )


def of_stream(source: str) -> str:
    return f'SELECT 1 AS sign, * FROM {source} WHERE stream_id = of_stream'


# Writers of the sources wait, or are waited for: each adds to the days of the time zone that holds then.
LOCK = f"LOCK TABLE {', '.join(SOURCES)} IN SHARE ROW EXCLUSIVE MODE"
FILL_STREAM = f"""
CREATE FUNCTION metrics_fill_days(of_stream bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM FROM metrics_state FOR UPDATE;
    {LOCK};
    DELETE FROM metrics_day WHERE stream_id = of_stream;
    DELETE FROM metrics_daycoverage WHERE stream_id = of_stream;
    {'; '.join(add(source, of_stream(source)) for source in SOURCES)};
END $$;
REVOKE EXECUTE ON FUNCTION metrics_fill_days(bigint) FROM PUBLIC;
{make_function('metrics_day_zone', 'PERFORM metrics_fill_days(NEW.id)')}
CREATE TRIGGER metrics_day_zone AFTER UPDATE OF time_zone ON streams_stream
    FOR EACH ROW WHEN (OLD.time_zone <> NEW.time_zone) EXECUTE FUNCTION metrics_day_zone();
"""
FILL = f"{LOCK};" + ''.join(add(source, f'SELECT 1 AS sign, * FROM {source}') + ';' for source in SOURCES)
DROP = """
DROP TRIGGER metrics_day_zone ON streams_stream;
DROP FUNCTION metrics_day_zone();
DROP FUNCTION metrics_fill_days(bigint);
""" + ''.join(
    f'DROP TRIGGER {name} ON {source}; DROP FUNCTION {name}();'
    for source in SOURCES
    for name in (trigger_name(source, event) for event in ('insert', 'update', 'delete'))
) + """
DROP TABLE metrics_day, metrics_daycoverage;
DROP FUNCTION metrics_known_zone(text);
"""


class Migration(migrations.Migration):

    dependencies = [('metrics', '0005_stopped'), ('streams', '0013_groups')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(MAKE_TABLES + ''.join(map(make_triggers, SOURCES)) + FILL_STREAM + FILL, DROP)
            ],
            state_operations=[
                migrations.CreateModel(
                    name='Day',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('day', models.DateField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='days', to='streams.stream')),
                    ],
                ),
                migrations.CreateModel(
                    name='DayCoverage',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('day', models.DateField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='day_coverage', to='streams.stream')),
                    ],
                ),
                migrations.AlterField(
                    model_name='block',
                    name='stream',
                    field=models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blocks', to='streams.stream'),
                ),
                migrations.AlterField(
                    model_name='blockprogress',
                    name='stream',
                    field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='block_progress', serialize=False, to='streams.stream'),
                ),
            ],
        ),
    ]
