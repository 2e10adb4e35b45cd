"""`Silence` is called `StreamSilence`; its table keeps its name, so the database stays as it is."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("alerts", "0001_initial")]

    operations = [
        migrations.AlterModelTable(name="silence", table="alerts_silence"),
        migrations.RenameModel(old_name="Silence", new_name="StreamSilence"),
    ]
