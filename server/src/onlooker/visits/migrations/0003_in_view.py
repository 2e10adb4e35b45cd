"""Finds a stream's open visits: who is in view now is asked again and again."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('visits', '0002_marks'),
    ]

    operations = [
        migrations.RunSQL(
            'CREATE INDEX visits_in_view ON visits_visit (stream_id) WHERE NOT ended',
            'DROP INDEX visits_in_view',
        ),
    ]
