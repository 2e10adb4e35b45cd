"""How many people stood still for at least 3 seconds."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("metrics", "0004_blocks")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE metrics_slot ADD COLUMN stopped integer NOT NULL DEFAULT 0",
            "ALTER TABLE metrics_slot DROP COLUMN stopped",
        )
    ]
