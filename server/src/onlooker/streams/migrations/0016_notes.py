"""Notes on days: of a stream, of a site, or of an organisation."""

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

SAME_ORGANISATION = """
ALTER TABLE streams_note ADD CONSTRAINT note_at_site_of_its_organisation
    FOREIGN KEY (site_id, organisation_id) REFERENCES streams_site (id, organisation_id) DEFERRABLE INITIALLY DEFERRED;
"""
UNDO = "ALTER TABLE streams_note DROP CONSTRAINT note_at_site_of_its_organisation"


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0015_memberships'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Note',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('first_day', models.DateField()),
                ('last_day', models.DateField()),
                ('text', models.CharField(max_length=120)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='notes', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='streams.organisation')),
                ('site', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='streams.site')),
                ('stream', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='notes', to='streams.stream')),
            ],
            options={
                'indexes': [models.Index(fields=['organisation', 'last_day'], name='notes_by_day')],
                'constraints': [models.CheckConstraint(condition=models.Q(('site__isnull', True), ('stream__isnull', True), _connector='OR'), name='note_of_one_thing'), models.CheckConstraint(condition=models.Q(('first_day__lte', models.F('last_day'))), name='note_ends_after_its_start')],
            },
        ),
        migrations.RunSQL(SAME_ORGANISATION, UNDO),
    ]
