"""`Event` is called `StripeEvent`; its table keeps its name, so the database stays as it is."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_billing")]

    operations = [
        migrations.AlterModelTable(name="event", table="billing_event"),
        migrations.RenameModel(old_name="Event", new_name="StripeEvent"),
    ]
