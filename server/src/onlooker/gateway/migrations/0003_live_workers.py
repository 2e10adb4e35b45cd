"""Workers that are live, for the staff's page."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('gateway', '0002_fair_queue'),
    ]

    operations = [
        migrations.CreateModel(
            name='ListedWorker',
            fields=[
                ('instance', models.TextField(primary_key=True, serialize=False)),
                ('name', models.TextField()),
                ('version', models.TextField()),
                ('services', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), size=None)),
                ('confined', models.BooleanField()),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'verbose_name': 'worker',
            },
        ),
    ]
