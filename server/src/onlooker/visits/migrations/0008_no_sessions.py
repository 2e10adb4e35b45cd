"""Ended visits no longer tell which session they came from: each row that still does is written once more.

In a transaction of its own, after the trigger: nothing is locked but rows, so that recorders and readers go on.
"""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('visits', '0007_forgotten')]

    operations = [
        migrations.RunSQL(
            "UPDATE visits_visit SET session = '' WHERE ended AND session <> ''", migrations.RunSQL.noop
        ),
    ]
