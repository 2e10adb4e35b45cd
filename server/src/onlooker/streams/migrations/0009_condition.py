"""What agents report of their cameras, whether cameras see now, and when owners are told that one does not."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('streams', '0008_blindness')]

    operations = [
        migrations.CreateModel(
            name='AgentCondition',
            fields=[
                ('stream', models.OneToOneField(db_index=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='agent_condition', serialize=False, to='streams.stream')),
                ('state', models.TextField()),
                ('since_at', models.DateTimeField()),
                ('blind_since_at', models.DateTimeField(null=True)),
                ('over_s', models.FloatField()),
                ('sent', models.BigIntegerField()),
                ('dropped', models.JSONField()),
                ('version', models.TextField(blank=True)),
                ('received_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='PictureCondition',
            fields=[
                ('stream', models.OneToOneField(db_index=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='picture_condition', serialize=False, to='streams.stream')),
                ('fault', models.TextField(blank=True)),
                ('since_at', models.DateTimeField()),
                ('blind_since_at', models.DateTimeField(null=True)),
                ('seen_at', models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            model_name='stream',
            name='blind_alert_minutes',
            field=models.PositiveSmallIntegerField(db_default=15, default=15),
        ),
        migrations.AddConstraint(
            model_name='stream',
            constraint=models.CheckConstraint(condition=models.Q(('blind_alert_minutes__lte', 10080)), name='blind_alert_in_range'),
        ),
    ]
