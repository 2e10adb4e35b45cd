"""Whether faces are read at all, where the camera is, whether people are told, and opening hours with their history."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('streams', '0011_device')]

    operations = [
        migrations.AddField(
            model_name='stream',
            name='reads_faces',
            field=models.BooleanField(db_default=True, default=True),
        ),
        migrations.AddField(
            model_name='stream',
            name='place',
            field=models.CharField(blank=True, choices=[('', ''), ('public', 'public'), ('workplace', 'workplace'), ('school', 'school')], db_default='', default='', max_length=20),
        ),
        migrations.AddField(
            model_name='stream',
            name='notice_given_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='stream',
            name='hours',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
        migrations.AddField(
            model_name='stream',
            name='hours_since',
            field=models.DateTimeField(null=True),
        ),
        migrations.CreateModel(
            name='OpeningHours',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('since_at', models.DateTimeField()),
                ('hours', models.TextField(blank=True)),
                ('time_zone', models.TextField()),
                ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='opening_hours', to='streams.stream')),
            ],
        ),
        migrations.AddConstraint(
            model_name='openinghours',
            constraint=models.UniqueConstraint(fields=('stream', 'since_at'), name='one_opening_hours_per_moment'),
        ),
    ]
