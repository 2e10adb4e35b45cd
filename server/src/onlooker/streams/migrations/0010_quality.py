"""How well frames could be looked at, slot by slot."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('streams', '0009_condition')]

    operations = [
        migrations.CreateModel(
            name='Quality',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('slot_at', models.DateTimeField()),
                ('models_version', models.TextField()),
                ('pipeline_version', models.TextField()),
                ('frames', models.BigIntegerField()),
                ('video_s', models.FloatField()),
                ('dark_frames', models.BigIntegerField()),
                ('face_frames', models.BigIntegerField()),
                ('face_video_s', models.FloatField()),
                ('faces', django.contrib.postgres.fields.ArrayField(base_field=models.IntegerField(), size=16)),
                ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='quality', to='streams.stream')),
            ],
        ),
        migrations.AddConstraint(
            model_name='quality',
            constraint=models.UniqueConstraint(fields=('stream', 'slot_at', 'models_version', 'pipeline_version'), name='one_quality_per_version'),
        ),
    ]
