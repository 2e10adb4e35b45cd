"""Keys: what programs show in the place of a sign-in or a Password. The audit log follows them from its migration 0003."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('streams', '0015_memberships'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='OrganisationKey',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('beginning', models.CharField(max_length=12)),
                ('sha256', models.BinaryField(max_length=32, unique=True)),
                ('scopes', django.contrib.postgres.fields.ArrayField(base_field=models.TextField(choices=[('numbers', 'Numbers'), ('manage', 'Manage'), ('enrol', 'Enrol'), ('frames', 'Frames')]), size=None)),
                ('role', models.CharField(choices=[('manager', 'Manager'), ('owner', 'Owner')], max_length=10)),
                ('reaches_all', models.BooleanField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('expires_at', models.DateTimeField(null=True)),
                ('used_at', models.DateTimeField(null=True)),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='created_keys', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='keys', to='streams.organisation')),
            ],
        ),
        migrations.CreateModel(
            name='KeyStream',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('stream', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='key_links', to='streams.stream')),
                ('key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='stream_links', to='keys.organisationkey')),
            ],
        ),
        migrations.CreateModel(
            name='KeySite',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('site', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='key_links', to='streams.site')),
                ('key', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='site_links', to='keys.organisationkey')),
            ],
        ),
        migrations.AddIndex(
            model_name='organisationkey',
            index=models.Index(condition=models.Q(('revoked_at__isnull', False)), fields=['revoked_at'], name='key_revoked'),
        ),
        migrations.AddConstraint(
            model_name='organisationkey',
            constraint=models.CheckConstraint(condition=models.Q(('role__in', ('manager', 'owner'))), name='key_role_known'),
        ),
        migrations.AddConstraint(
            model_name='organisationkey',
            constraint=models.CheckConstraint(condition=models.Q(('scopes__contained_by', ['numbers', 'manage', 'enrol', 'frames']), ('scopes__len__gte', 1)), name='key_scopes_known'),
        ),
        migrations.AddConstraint(
            model_name='keystream',
            constraint=models.UniqueConstraint(fields=('key', 'stream'), name='one_link_per_key_and_stream'),
        ),
        migrations.AddConstraint(
            model_name='keysite',
            constraint=models.UniqueConstraint(fields=('key', 'site'), name='one_link_per_key_and_site'),
        ),
    ]
