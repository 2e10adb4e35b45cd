from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0003_console'),
    ]

    operations = [
        migrations.AddField(
            model_name='accesstoken',
            name='is_trial',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
