"""Blocks: what is told about people of a stream that groups at least so many of them.

Triggers do what a change of `groups_of` means, in its own transaction. A release before this one goes on: rows that it
fills have no `told`, which stands for all of their interested people.
"""

import django.db.models.deletion
from django.db import migrations, models

CATEGORIES = ('senior_female', 'senior_male', 'young_female', 'young_male')
BREAKDOWNS = {
    'gender_unknown': ('gender_female', 'gender_male'),
    'age_unknown': ('age_0_14', 'age_15_24', 'age_25_34', 'age_35_44', 'age_45_54', 'age_55_64', 'age_65_up'),
    'emotion_unknown': (
        'emotion_neutral', 'emotion_happiness', 'emotion_surprise', 'emotion_anger', 'emotion_sadness',
    ),
}
KNOWN = (*CATEGORIES, 'balance_of', *(part for parts in BREAKDOWNS.values() for part in parts))
SUMS = ('still_us', 'looking_us', 'balance')
FIGURES = ('told', *SUMS, *KNOWN, *BREAKDOWNS)
ROUNDED = {'still_us': -6, 'looking_us': -6, 'balance': -7}

MAKE_TABLES = f"""
-- NULL: all interested people, in rows of the release before.
ALTER TABLE metrics_slot ADD COLUMN told integer;
-- What at least `groups_of` interested people add up to, frozen. People whose part of a breakdown is known are
-- subtracted from the unknown ones, as whom their slots have them.
CREATE TABLE metrics_block (
    stream_id bigint NOT NULL REFERENCES streams_stream (id) ON DELETE CASCADE,
    begins_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    reaches_at timestamptz NOT NULL,  -- the end of the last slot that one of its visits reaches into
    {', '.join(f'{column} bigint NOT NULL' for column in SUMS)},
    {', '.join(f'{column} integer NOT NULL' for column in FIGURES if column not in SUMS)},
    PRIMARY KEY (stream_id, begins_at)
);
-- Slots that begin before are in a block, or stay unknown for good.
CREATE TABLE metrics_blockprogress (
    stream_id bigint PRIMARY KEY REFERENCES streams_stream (id) ON DELETE CASCADE,
    blocked_until timestamptz NOT NULL
);
"""

MAKE_FUNCTIONS = f"""
-- Blocks of what rows of the roll-up tell singly from a slot on, as if all their days were over. Then the rows are
-- erased. A run of slots ends with the one in which its people reach `fewest`; the rest of a day joins its last run.
CREATE FUNCTION metrics_group_slots(of_stream bigint, fewest integer, zone text, since timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    one record;
    today date;
    run integer := 0;
    people integer := 0;
    slots timestamptz[] := '{{}}';
    runs integer[] := '{{}}';
    days date[] := '{{}}';
BEGIN
    FOR one IN
        SELECT slot_at, coalesce(told, interested) AS told,
               max((slot_at AT TIME ZONE zone)::date) OVER (ORDER BY slot_at) AS day
        FROM metrics_slot
        WHERE stream_id = of_stream AND slot_at >= since AND coalesce(told, interested) > 0 ORDER BY slot_at
    LOOP
        IF today IS DISTINCT FROM one.day OR people >= fewest THEN
            run := run + 1;
            people := 0;
        END IF;
        today := one.day;
        people := people + one.told;
        slots := array_append(slots, one.slot_at);
        runs := array_append(runs, run);
        days := array_append(days, one.day);
    END LOOP;
    WITH given AS (
        SELECT given.run, given.day, slot.*
        FROM unnest(slots, runs, days) AS given (slot_at, run, day)
        JOIN metrics_slot slot ON slot.stream_id = of_stream AND slot.slot_at = given.slot_at),
    named AS (
        SELECT given.run, CASE WHEN sum(coalesce(told, interested)) >= fewest THEN given.run
                               ELSE lag(given.run) OVER (PARTITION BY day ORDER BY given.run) END AS block
        FROM given GROUP BY given.run, day)
    INSERT INTO metrics_block (stream_id, begins_at, ends_at, reaches_at, {', '.join(FIGURES)})
    SELECT of_stream, min(slot_at), max(slot_at) + interval '15 minutes',
           date_bin('15 minutes', max(reaches_at) + interval '15 minutes' - interval '1 microsecond', 'epoch'),
           sum(coalesce(told, interested)),
           {', '.join(f'round(sum({column}), {digits})' for column, digits in ROUNDED.items())},
           {', '.join(f'sum({column})' for column in KNOWN)},
           {', '.join(f"-sum({' + '.join(parts)})" for parts in BREAKDOWNS.values())}
    FROM given JOIN named USING (run) WHERE block IS NOT NULL GROUP BY block;
    UPDATE metrics_slot SET told = 0, {', '.join(f'{column} = 0' for column in (*SUMS, *KNOWN))},
                            {', '.join(f'{column} = interested' for column in BREAKDOWNS)}
    WHERE stream_id = of_stream AND slot_at >= since;
END $$;
REVOKE EXECUTE ON FUNCTION metrics_group_slots(bigint, integer, text, timestamptz) FROM PUBLIC;
-- Fillers hold the state until they commit: those before us have written what we put into blocks, those after us see
-- that the slots are grouped. Writers of visits wait for us, or we for them: what was told singly is known to be.
CREATE FUNCTION metrics_group() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    is_grouped boolean := TG_OP = 'UPDATE' AND OLD.groups_of > 1;
BEGIN
    -- A release that is at work ends first, also the first one of a stream.
    IF is_grouped AND NEW.groups_of <> OLD.groups_of THEN
        INSERT INTO metrics_blockprogress (stream_id, blocked_until) VALUES (NEW.id, '-infinity') ON CONFLICT DO NOTHING;
        PERFORM FROM metrics_blockprogress WHERE stream_id = NEW.id FOR UPDATE;
    END IF;
    IF NEW.groups_of > 1 AND NOT is_grouped THEN
        IF TG_OP = 'UPDATE' THEN
            PERFORM FROM metrics_state FOR UPDATE;
            LOCK TABLE visits_mark IN SHARE MODE;
            INSERT INTO metrics_blockprogress AS known (stream_id, blocked_until)
            SELECT NEW.id, max(slot_at) + interval '15 minutes'
            FROM (SELECT slot_at FROM metrics_slot WHERE stream_id = NEW.id
                  UNION ALL SELECT slot_at FROM visits_mark WHERE stream_id = NEW.id) told
            HAVING count(*) > 0
            ON CONFLICT (stream_id) DO UPDATE SET blocked_until = greatest(known.blocked_until, excluded.blocked_until);
            PERFORM metrics_group_slots(NEW.id, NEW.groups_of, NEW.time_zone, OLD.grouped_until);
        END IF;
        NEW.grouped_until := 'infinity';
    ELSIF NEW.groups_of = 1 AND is_grouped THEN
        SELECT blocked_until INTO NEW.grouped_until FROM metrics_blockprogress WHERE stream_id = NEW.id FOR UPDATE;
        NEW.grouped_until := coalesce(NEW.grouped_until, '-infinity');
        INSERT INTO visits_mark (stream_id, slot_at, reaches_at)
        SELECT stream_id, date_bin('15 minutes', began_at, 'epoch'), max(upper(present))
        FROM visits_visit LEFT JOIN visits_kept kept USING (stream_id)
        WHERE stream_id = NEW.id AND began_at >= NEW.grouped_until AND (kept.since IS NULL OR began_at >= kept.since)
        GROUP BY 1, 2 ORDER BY 1, 2
        ON CONFLICT (stream_id, slot_at) DO UPDATE SET
            reaches_at = greatest(visits_mark.reaches_at, excluded.reaches_at);
    END IF;
    RETURN NEW;
END $$;
REVOKE EXECUTE ON FUNCTION metrics_group() FROM PUBLIC;
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION metrics_group() SET search_path = %I, pg_temp', current_schema());
END $$;
CREATE TRIGGER metrics_group BEFORE INSERT OR UPDATE OF groups_of ON streams_stream
    FOR EACH ROW EXECUTE FUNCTION metrics_group();
"""

DROP = """
DROP TRIGGER metrics_group ON streams_stream;
DROP FUNCTION metrics_group();
DROP FUNCTION metrics_group_slots(bigint, integer, text, timestamptz);
DROP TABLE metrics_block, metrics_blockprogress;
ALTER TABLE metrics_slot DROP COLUMN told;
"""


class Migration(migrations.Migration):

    dependencies = [('metrics', '0003_hours'), ('streams', '0013_groups'), ('visits', '0006_fewer_writes')]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(MAKE_TABLES + MAKE_FUNCTIONS, DROP)],
            state_operations=[
                migrations.CreateModel(
                    name='Block',
                    fields=[
                        ('pk', models.CompositePrimaryKey('stream_id', 'begins_at', blank=True, editable=False, primary_key=True, serialize=False)),
                        ('begins_at', models.DateTimeField()),
                        ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='blocks', to='streams.stream')),
                    ],
                ),
                migrations.CreateModel(
                    name='BlockProgress',
                    fields=[
                        ('stream', models.OneToOneField(on_delete=django.db.models.deletion.DO_NOTHING, primary_key=True, related_name='block_progress', serialize=False, to='streams.stream')),
                        ('blocked_until', models.DateTimeField()),
                    ],
                ),
            ],
        ),
    ]
