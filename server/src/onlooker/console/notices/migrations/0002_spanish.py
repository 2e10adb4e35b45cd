"""The purpose in Spanish, which the history keeps like those in other languages."""

from django.db import migrations, models

COLUMNS_BEFORE = (
    "controller",
    "address",
    "contact",
    "officer",
    "recipients",
    "place",
    "purpose_en",
    "purpose_fr",
    "purpose_de",
    "legal_basis",
)


def keep_columns(*columns: str) -> str:
    arguments = ", ".join(f"'{name}'" for name in ("stream_id", *columns))
    return (
        "CREATE OR REPLACE TRIGGER notices_keep AFTER INSERT OR UPDATE ON notices_noticedetails"
        f" FOR EACH ROW EXECUTE FUNCTION notices_keep({arguments});"
    )


class Migration(migrations.Migration):

    dependencies = [
        ('notices', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='noticedetails',
            name='purpose_es',
            field=models.CharField(blank=True, db_default='', default='', max_length=200),
        ),
        migrations.RunSQL(keep_columns(*COLUMNS_BEFORE, "purpose_es"), keep_columns(*COLUMNS_BEFORE)),
    ]
