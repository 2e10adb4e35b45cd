"""A recorder creates and drops months without owning the table of visits: two functions do it, as their owner."""

from django.db import migrations

MAKE_FUNCTIONS = """
-- Created separately and then attached, so that other months stay readable and writable.
-- A fifth of each page stays free, so that revisions of a visit fit beside one another.
CREATE FUNCTION visits_make_partition(month date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    name text := to_char(month, '"visits_visit_y"YYYY"m"MM');
    begins_at timestamptz := date_trunc('month', month::timestamp) AT TIME ZONE 'UTC';
    ends_at timestamptz := (date_trunc('month', month::timestamp) + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE visits_visit INCLUDING ALL) WITH (fillfactor = 80)', name);
    EXECUTE format('ALTER TABLE visits_visit ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                   name, begins_at, ends_at);
END $$;
CREATE FUNCTION visits_drop_partition(month date) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    EXECUTE format('DROP TABLE IF EXISTS %I', to_char(month, '"visits_visit_y"YYYY"m"MM'));
END $$;
REVOKE EXECUTE ON FUNCTION visits_make_partition(date), visits_drop_partition(date) FROM PUBLIC;
-- Temporary tables last: nobody's own table stands in for ours.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION visits_make_partition(date) SET search_path = %I, pg_temp', current_schema());
    EXECUTE format('ALTER FUNCTION visits_drop_partition(date) SET search_path = %I, pg_temp', current_schema());
END $$;
"""
UNDO = 'DROP FUNCTION visits_make_partition(date), visits_drop_partition(date)'


class Migration(migrations.Migration):

    dependencies = [('visits', '0004_model_names')]

    operations = [migrations.RunSQL(MAKE_FUNCTIONS, UNDO)]
