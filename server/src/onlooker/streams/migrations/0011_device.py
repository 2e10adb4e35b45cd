"""Where a stream's frames are computed, and what devices that compute by themselves told, slot by slot."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('streams', '0010_quality')]

    operations = [
        migrations.AddField(
            model_name='stream',
            name='compute',
            field=models.CharField(choices=[('server', 'Server'), ('device', 'Device')], db_default='server', default='server', max_length=10),
        ),
        migrations.CreateModel(
            name='DeviceCoverage',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('slot_at', models.DateTimeField()),
                ('device', models.UUIDField()),
                ('revision', models.IntegerField()),
                ('watched_s', models.FloatField()),
                ('counted_s', models.FloatField()),
                ('sums', models.JSONField()),
                ('first_at', models.DateTimeField()),
                ('last_at', models.DateTimeField()),
                ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='device_coverage', to='streams.stream')),
            ],
        ),
        migrations.AddConstraint(
            model_name='devicecoverage',
            constraint=models.UniqueConstraint(fields=('stream', 'slot_at', 'device'), name='one_device_coverage_per_slot'),
        ),
    ]
