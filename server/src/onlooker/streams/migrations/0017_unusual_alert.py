"""Whether a stream's owners hear of numbers that are not usual."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('streams', '0016_notes')]

    operations = [
        migrations.AddField(
            model_name='stream',
            name='unusual_alert',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
