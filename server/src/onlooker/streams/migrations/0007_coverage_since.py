"""Coverage is kept as long as the stream. Earlier releases deleted it with the visits: the row says up to when."""

from django.db import migrations, models

# A day later than the last deletion: a dispatcher of the release before may delete a little more while it still runs.
NOTE_DELETED = """
UPDATE streams_stream stream SET coverage_since = date_bin(
    '15 minutes',
    greatest(now() - retention_days * interval '24 hours',
             (SELECT since FROM visits_kept kept WHERE kept.stream_id = stream.id)) + interval '23 hours 15 minutes',
    'epoch');
"""


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0006_lock_function'),
        ('visits', '0005_partition_functions'),
    ]

    operations = [
        migrations.AddField(
            model_name='stream',
            name='coverage_since',
            field=models.DateTimeField(editable=False, null=True),
        ),
        migrations.RunSQL(NOTE_DELETED, migrations.RunSQL.noop),
    ]
