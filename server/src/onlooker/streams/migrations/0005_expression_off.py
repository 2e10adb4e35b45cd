"""New streams read no expression unless somebody switches it on; streams that exist stay as they are."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0004_trial_tokens'),
    ]

    operations = [
        migrations.AlterField(
            model_name='stream',
            name='reads_expression',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
