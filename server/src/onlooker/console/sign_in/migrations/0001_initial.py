import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

ROLES = [("owner", "Owner"), ("manager", "Manager"), ("analyst", "Analyst"), ("viewer", "Viewer")]


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        ("streams", "0015_memberships"),
    ]

    operations = [
        migrations.CreateModel(
            name="IdentityProvider",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "address",
                    models.CharField(
                        max_length=60,
                        unique=True,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$", "Use lower-case letters, digits and hyphens."
                            )
                        ],
                    ),
                ),
                ("is_on", models.BooleanField(default=True)),
                ("issuer", models.CharField(max_length=300)),
                ("client_id", models.CharField(max_length=191)),
                ("sealed_secret", models.TextField()),
                ("scopes", models.CharField(default="openid email profile", max_length=200)),
                ("further_hosts", models.TextField(blank=True)),
                ("groups_claim", models.CharField(default="groups", max_length=100)),
                ("default_role", models.CharField(blank=True, choices=ROLES, max_length=10)),
                ("changed_at", models.DateTimeField(auto_now=True)),
                (
                    "organisation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identity_provider",
                        to="streams.organisation",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="GroupRole",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("group", models.CharField(max_length=200)),
                ("role", models.CharField(choices=ROLES, max_length=10)),
                (
                    "provider",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="group_roles",
                        to="sign_in.identityprovider",
                    ),
                ),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("provider", "group"), name="one_role_per_group")],
            },
        ),
        migrations.CreateModel(
            name="ProvenDomain",
            fields=[
                ("domain", models.CharField(max_length=253, primary_key=True, serialize=False)),
                (
                    "organisation",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="proven_domains",
                        to="streams.organisation",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="ProviderIdentity",
            fields=[
                (
                    "social_account",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="identity",
                        serialize=False,
                        to="socialaccount.socialaccount",
                    ),
                ),
                ("role", models.CharField(blank=True, choices=ROLES, max_length=10)),
                ("is_admitted", models.BooleanField(default=False)),
                (
                    "provider",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="identities",
                        to="sign_in.identityprovider",
                    ),
                ),
            ],
        ),
    ]
