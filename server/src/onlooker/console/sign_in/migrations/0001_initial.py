"""Organisations' providers, and every change of them in the organisations' audit logs."""

import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

# Every change of who may come in is in the organisation's audit log. Of the secret, only that it changed.
LOG = """
CREATE FUNCTION audit_note_provider() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    hidden text[] := ARRAY['id', 'organisation_id', 'sealed_secret', 'changed_at'];
    about jsonb;
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'provider.added',
            jsonb_build_object('issuer', NEW.issuer, 'client', NEW.client_id, 'address', NEW.address));
        RETURN NULL;
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(OLD.organisation_id, 'provider.removed', jsonb_build_object('issuer', OLD.issuer));
        RETURN NULL;
    END IF;
    SELECT jsonb_object_agg(key, jsonb_build_array(was.value, becomes.value)) INTO about
    FROM jsonb_each(to_jsonb(OLD) - hidden) was JOIN jsonb_each(to_jsonb(NEW) - hidden) becomes USING (key)
    WHERE was.value IS DISTINCT FROM becomes.value;
    IF about IS NOT NULL THEN
        PERFORM audit_note_of(NEW.organisation_id, 'provider.changed', about);
    END IF;
    IF OLD.sealed_secret <> NEW.sealed_secret THEN
        PERFORM audit_note_of(NEW.organisation_id, 'provider.secret_changed', '{}'::jsonb);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_provider AFTER INSERT OR UPDATE OR DELETE ON sign_in_identityprovider
    FOR EACH ROW EXECUTE FUNCTION audit_note_provider();
CREATE FUNCTION audit_note_groups() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note_of(provider.organisation_id, 'provider.groups', jsonb_build_object('groups',
        (SELECT coalesce(jsonb_object_agg("group", role), '{}'::jsonb)
         FROM sign_in_grouprole WHERE provider_id = provider.id)))
    FROM sign_in_identityprovider provider
    WHERE provider.id IN (SELECT provider_id FROM changed);
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_groups_added AFTER INSERT ON sign_in_grouprole
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_note_groups();
CREATE TRIGGER audit_note_groups_changed AFTER UPDATE ON sign_in_grouprole
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_note_groups();
CREATE TRIGGER audit_note_groups_removed AFTER DELETE ON sign_in_grouprole
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION audit_note_groups();
CREATE FUNCTION audit_note_domain() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM audit_note_of(OLD.organisation_id, 'domain.withdrawn', jsonb_build_object('domain', OLD.domain));
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM audit_note_of(NEW.organisation_id, 'domain.confirmed', jsonb_build_object('domain', NEW.domain));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_domain AFTER INSERT OR UPDATE OR DELETE ON sign_in_provendomain
    FOR EACH ROW EXECUTE FUNCTION audit_note_domain();
DO $$ DECLARE ours text; BEGIN
    FOREACH ours IN ARRAY ARRAY['audit_note_provider()', 'audit_note_groups()', 'audit_note_domain()'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', ours, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', ours);
    END LOOP;
END $$;
"""
UNLOG = """
DROP TRIGGER audit_note_provider ON sign_in_identityprovider;
DROP TRIGGER audit_note_groups_added ON sign_in_grouprole;
DROP TRIGGER audit_note_groups_changed ON sign_in_grouprole;
DROP TRIGGER audit_note_groups_removed ON sign_in_grouprole;
DROP TRIGGER audit_note_domain ON sign_in_provendomain;
DROP FUNCTION audit_note_provider(), audit_note_groups(), audit_note_domain();
"""
ROLES = [("owner", "Owner"), ("manager", "Manager"), ("analyst", "Analyst"), ("viewer", "Viewer")]


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("socialaccount", "0006_alter_socialaccount_extra_data"),
        ("streams", "0015_memberships"),
        ("audit", "0002_organisations"),
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
        migrations.RunSQL(LOG, UNLOG),
    ]
