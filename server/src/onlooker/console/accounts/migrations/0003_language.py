"""The language in which an account reads pages and mails."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0002_securityevent")]

    operations = [
        migrations.AddField(
            model_name="account",
            name="language",
            field=models.CharField(blank=True, db_default="", default="", max_length=5),
        ),
    ]
