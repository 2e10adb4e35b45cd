"""What is told about people in groups of at least so many, ranges on a grid, and when a device had handed over all.

`grouped_until` is no field of the model: Python has no infinite moment. Triggers of the metrics keep it.
"""

from django.db import migrations, models

ADD_COLUMN = """
-- Slots that begin before are told in blocks only.
ALTER TABLE streams_stream ADD COLUMN grouped_until timestamptz NOT NULL DEFAULT '-infinity';
"""


class Migration(migrations.Migration):

    dependencies = [('streams', '0012_presets_and_hours')]

    operations = [
        migrations.AddField(
            model_name='stream',
            name='groups_of',
            field=models.PositiveSmallIntegerField(db_default=1, default=1),
        ),
        migrations.AddField(
            model_name='stream',
            name='grid',
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name='devicecoverage',
            name='whole_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddConstraint(
            model_name='stream',
            constraint=models.CheckConstraint(condition=models.Q(('groups_of__range', (1, 50))), name='groups_of_in_range'),
        ),
        migrations.RunSQL(ADD_COLUMN, 'ALTER TABLE streams_stream DROP COLUMN grouped_until'),
    ]
