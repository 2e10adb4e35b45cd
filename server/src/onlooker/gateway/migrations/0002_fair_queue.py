"""Waiting jobs are found by stream, and the bytes that wait are counted."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("gateway", "0001_initial")]

    operations = [
        migrations.RemoveIndex(model_name="job", name="job_waiting_of_stream"),
        migrations.AddField(model_name="job", name="size_bytes", field=models.BigIntegerField(db_default=0)),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                fields=["stream", "number"],
                name="job_waiting_of_stream",
                include=["size_bytes"],
                condition=models.Q(finished_at=None),
            ),
        ),
    ]
