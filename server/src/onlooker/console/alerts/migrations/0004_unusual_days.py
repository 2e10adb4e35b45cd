"""Days on which far fewer or far more people came than usual, and up to which hour streams were judged."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('alerts', '0003_blind_camera'),
        ('streams', '0017_unusual_alert'),
    ]

    operations = [
        migrations.CreateModel(
            name='JudgedHour',
            fields=[
                ('stream', models.OneToOneField(db_index=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='judged_hour', serialize=False, to='streams.stream')),
                ('judged_until', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='UnusualDay',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('day', models.DateField()),
                ('first_day', models.DateField()),
                ('metric', models.TextField()),
                ('is_more', models.BooleanField()),
                ('from_at', models.DateTimeField()),
                ('to_at', models.DateTimeField()),
                ('hours', models.SmallIntegerField()),
                ('counted', models.IntegerField()),
                ('usual_low', models.IntegerField()),
                ('usual', models.IntegerField()),
                ('usual_high', models.IntegerField()),
                ('begun_at', models.DateTimeField()),
                ('told_at', models.DateTimeField(null=True)),
                ('tries', models.SmallIntegerField(db_default=0, default=0)),
                ('try_at', models.DateTimeField(null=True)),
                ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='unusual_days', to='streams.stream')),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('told_at', None), ('try_at__isnull', False)), fields=['try_at'], name='unusual_mail_due')],
                'constraints': [models.UniqueConstraint(fields=('stream', 'day'), name='one_unusual_day')],
            },
        ),
    ]
