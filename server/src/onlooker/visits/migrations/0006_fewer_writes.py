"""One index of open visits instead of two, and more room on each page for revisions of its visits.

Processes of the release before go on: the index that stays finds all open visits, of which there are few.
"""

from django.db import migrations

DROP_INDEX = 'DROP INDEX visits_open'
MAKE_INDEX = 'CREATE INDEX visits_open ON visits_visit (session) WHERE NOT ended'

MAKE_FUNCTION = """
CREATE OR REPLACE FUNCTION visits_make_partition(month date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    name text := to_char(month, '"visits_visit_y"YYYY"m"MM');
    begins_at timestamptz := date_trunc('month', month::timestamp) AT TIME ZONE 'UTC';
    ends_at timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE visits_visit INCLUDING ALL) WITH (fillfactor = {fillfactor})', name);
    EXECUTE format('ALTER TABLE visits_visit ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   name, begins_at, ends_at);
END $$;
-- Replacing it forgets this.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION visits_make_partition(date) SET search_path = %I, pg_temp', current_schema());
END $$;
-- The months that are still written.
DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT child.relname FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
                WHERE inhparent = 'visits_visit'::regclass
                  AND child.relname >= to_char(now() AT TIME ZONE 'UTC', '"visits_visit_y"YYYY"m"MM')
    LOOP
        EXECUTE format('ALTER TABLE %I SET (fillfactor = {fillfactor})', name);
    END LOOP;
END $$;
"""


def with_fillfactor(percent: int) -> str:
    return MAKE_FUNCTION.replace('{fillfactor}', str(percent))


class Migration(migrations.Migration):

    dependencies = [('visits', '0005_partition_functions')]

    operations = [
        migrations.RunSQL(DROP_INDEX, MAKE_INDEX),
        migrations.RunSQL(with_fillfactor(70), with_fillfactor(80)),
    ]
