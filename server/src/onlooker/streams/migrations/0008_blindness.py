"""Times in which a camera sent frames and saw nothing."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('streams', '0007_coverage_since')]

    operations = [
        migrations.CreateModel(
            name='Blindness',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('slot_at', models.DateTimeField()),
                ('fault', models.TextField()),
                ('video_s', models.FloatField()),
                ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='blindness', to='streams.stream')),
            ],
        ),
        migrations.AddConstraint(
            model_name='blindness',
            constraint=models.UniqueConstraint(fields=('stream', 'slot_at', 'fault'), name='one_blindness_per_fault'),
        ),
    ]
