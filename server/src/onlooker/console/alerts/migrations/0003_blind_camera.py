"""Alerts about cameras that see nothing."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('alerts', '0002_stream_silence'),
        ('streams', '0009_condition'),
    ]

    operations = [
        migrations.CreateModel(
            name='BlindCamera',
            fields=[
                ('begun_at', models.DateTimeField()),
                ('told_at', models.DateTimeField(null=True)),
                ('back_at', models.DateTimeField(null=True)),
                ('back_told_at', models.DateTimeField(null=True)),
                ('tries', models.SmallIntegerField(db_default=0, default=0)),
                ('try_at', models.DateTimeField()),
                ('stream', models.OneToOneField(db_index=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='blind_camera', serialize=False, to='streams.stream')),
                ('reason', models.TextField()),
                ('blind_since', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('told_at', None), models.Q(('back_at__isnull', False), ('back_told_at', None)), _connector='OR'), fields=['try_at'], name='blind_mail_due')],
            },
        ),
    ]
