"""Organisations, sites, members and tags. Streams get an organisation instead of an owner; the next one fills it in.

The column `owner_id` stays for processes of the release before, without a field: see the next migration.
"""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0013_groups'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Organisation',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('requires_second_factor', models.BooleanField(db_default=False, default=False)),
            ],
        ),
        migrations.CreateModel(
            name='Site',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('address', models.CharField(blank=True, db_default='', default='', max_length=300)),
                ('time_zone', models.TextField(db_default='UTC', default='UTC')),
                ('hours', models.TextField(blank=True, db_default='', default='')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sites', to='streams.organisation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('id', 'organisation'), name='site_in_its_organisation')],
            },
        ),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.DeleteModel(name='Member')]),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('owner', 'Owner'), ('manager', 'Manager'), ('analyst', 'Analyst'), ('viewer', 'Viewer')], max_length=10)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('account', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='streams.organisation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organisation', 'account'), name='one_membership_per_organisation')],
            },
        ),
        migrations.CreateModel(
            name='MembershipSite',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('membership', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='site_links', to='streams.membership')),
                ('site', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='viewer_links', to='streams.site')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('membership', 'site'), name='one_link_per_site')],
            },
        ),
        migrations.CreateModel(
            name='Tag',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=50)),
                ('organisation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='streams.organisation')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('organisation', 'name'), name='one_tag_per_name')],
            },
        ),
        migrations.CreateModel(
            name='StreamTag',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('stream', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='tag_links', to='streams.stream')),
                ('tag', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='stream_links', to='streams.tag')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('stream', 'tag'), name='one_link_per_tag')],
            },
        ),
        migrations.AddField(
            model_name='stream',
            name='organisation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='streams', to='streams.organisation'),
        ),
        migrations.AddField(
            model_name='stream',
            name='site',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='streams', to='streams.site'),
        ),
        migrations.RemoveConstraint(model_name='stream', name='stream_has_owner'),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField(model_name='stream', name='owner')]),
    ]
