"""The table of requests that have an idempotency key."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('streams', '0015_memberships'),
    ]

    operations = [
        migrations.CreateModel(
            name='IdempotentRequest',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('key_sha256', models.BinaryField(max_length=32)),
                ('request_sha256', models.BinaryField(max_length=32)),
                ('status', models.PositiveSmallIntegerField(null=True)),
                ('sealed_answer', models.TextField(blank=True, default='')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('organisation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='idempotent_requests', to='streams.organisation')),
            ],
            options={
                'indexes': [models.Index(fields=['created_at'], name='idempotent_request_age')],
                'constraints': [models.UniqueConstraint(fields=('organisation', 'key_sha256'), name='one_request_per_idempotency_key')],
            },
        ),
    ]
