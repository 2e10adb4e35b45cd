"""Ranges that an owner has erased, and ended visits that are written without their session from now on.

A trigger takes it out of what recorders of the release before write; the next migration clears the rows that are there.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

MAKE_TRIGGER = """
CREATE FUNCTION visits_forget_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.session := '';
    RETURN NEW;
END $$;
-- Not called for rows that our own recorders write.
CREATE TRIGGER visits_forget_session BEFORE INSERT OR UPDATE ON visits_visit
    FOR EACH ROW WHEN (NEW.ended AND NEW.session <> '') EXECUTE FUNCTION visits_forget_session();
"""
DROP_TRIGGER = """
DROP TRIGGER visits_forget_session ON visits_visit;
DROP FUNCTION visits_forget_session();
"""

class Migration(migrations.Migration):

    dependencies = [('visits', '0006_fewer_writes')]

    operations = [
        migrations.CreateModel(
            name='ErasedRange',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('from_at', models.DateTimeField()),
                ('to_at', models.DateTimeField()),
                ('erased_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('stream', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='erased_ranges', to='streams.stream')),
            ],
            options={'db_table': 'visits_erased'},
        ),
        migrations.RunSQL(MAKE_TRIGGER, DROP_TRIGGER),
    ]
