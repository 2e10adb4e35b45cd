"""How well people could be seen in an erased range is not stored again.

That holds for devices that were offline, for recordings, and for processes of the release before. What has come back by
now goes.
"""

from django.db import migrations

IS_ERASED = """EXISTS (SELECT FROM visits_erased WHERE stream_id = {row}.stream_id
    AND from_at < {row}.slot_at + interval '15 minutes' AND to_at > {row}.slot_at)"""

MAKE_TRIGGERS = f"""
CREATE FUNCTION visits_refuse_quality() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF {IS_ERASED.format(row='NEW')} THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END $$;
-- Before a conflict is looked for, so that nothing is added to a row either.
CREATE TRIGGER visits_refuse_quality BEFORE INSERT ON streams_quality
    FOR EACH ROW EXECUTE FUNCTION visits_refuse_quality();
CREATE FUNCTION visits_strip_quality() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF {IS_ERASED.format(row='NEW')} THEN
        NEW.sums := NEW.sums - 'quality';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER visits_strip_quality BEFORE INSERT OR UPDATE ON streams_devicecoverage
    FOR EACH ROW EXECUTE FUNCTION visits_strip_quality();
REVOKE EXECUTE ON FUNCTION visits_refuse_quality(), visits_strip_quality() FROM PUBLIC;
DO $$ DECLARE ours text; BEGIN
    FOREACH ours IN ARRAY ARRAY['visits_refuse_quality()', 'visits_strip_quality()'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', ours, current_schema());
    END LOOP;
END $$;
"""
DROP_TRIGGERS = """
DROP TRIGGER visits_refuse_quality ON streams_quality;
DROP TRIGGER visits_strip_quality ON streams_devicecoverage;
DROP FUNCTION visits_refuse_quality(), visits_strip_quality();
"""
CLEAR = f"""
DELETE FROM streams_quality quality WHERE {IS_ERASED.format(row='quality')};
UPDATE streams_devicecoverage told SET sums = sums - 'quality' WHERE {IS_ERASED.format(row='told')};
"""


class Migration(migrations.Migration):

    dependencies = [('metrics', '0003_hours'), ('streams', '0011_device'), ('visits', '0008_no_sessions')]

    operations = [
        migrations.RunSQL(MAKE_TRIGGERS, DROP_TRIGGERS),
        migrations.RunSQL(CLEAR, migrations.RunSQL.noop),
    ]
