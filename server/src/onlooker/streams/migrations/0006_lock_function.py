"""A gateway locks a stream's row without the right to change it: a function does it, as its owner."""

from django.db import migrations

MAKE_FUNCTION = """
CREATE FUNCTION streams_lock(of_stream bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM FROM streams_stream WHERE id = of_stream FOR NO KEY UPDATE;
END $$;
REVOKE EXECUTE ON FUNCTION streams_lock(bigint) FROM PUBLIC;
-- Temporary tables last: nobody's own table stands in for ours.
DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION streams_lock(bigint) SET search_path = %I, pg_temp', current_schema());
END $$;
"""


class Migration(migrations.Migration):

    dependencies = [('streams', '0005_expression_off')]

    operations = [migrations.RunSQL(MAKE_FUNCTION, 'DROP FUNCTION streams_lock(bigint)')]
