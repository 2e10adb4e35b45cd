"""New names for two models in Python. Their tables stay as they are."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('visits', '0003_in_view'),
    ]

    operations = [
        # Named first: then renaming the model leaves the table alone.
        migrations.AlterModelTable(name='Visit', table='visits_visit'),
        migrations.AlterModelTable(name='Kept', table='visits_kept'),
        migrations.RenameModel(old_name='Visit', new_name='VisitRow'),
        migrations.RenameModel(old_name='Kept', new_name='KeptSince'),
    ]
