"""Invitations to a stream become invitations to the site that the stream has got; links in mails go on to work.

The column `stream_id` stays, empty, for the console of the release before.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

FILL = """
DELETE FROM members_invitation invitation WHERE expires_at <= now()
    OR NOT EXISTS (SELECT FROM streams_stream WHERE id = invitation.stream_id AND site_id IS NOT NULL);
INSERT INTO members_invitationsite (invitation_id, site_id)
SELECT invitation.id, stream.site_id
FROM members_invitation invitation JOIN streams_stream stream ON stream.id = invitation.stream_id;
UPDATE members_invitation invitation
SET organisation_id = stream.organisation_id, invited_by_id = stream.owner_id
FROM streams_stream stream WHERE stream.id = invitation.stream_id;
SET CONSTRAINTS ALL IMMEDIATE;
"""
EMPTY_STREAM = """
ALTER TABLE members_invitation ALTER COLUMN stream_id DROP NOT NULL;
UPDATE members_invitation SET stream_id = NULL;
"""
NO_INVITATIONS = """
DELETE FROM members_invitationsite;
DELETE FROM members_invitation;
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE members_invitation ALTER COLUMN stream_id SET NOT NULL;
"""


class Migration(migrations.Migration):

    dependencies = [
        ('members', '0001_initial'),
        ('streams', '0015_memberships'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='invitation',
            name='organisation',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='streams.organisation'),
        ),
        migrations.AddField(
            model_name='invitation',
            name='role',
            field=models.CharField(choices=[('owner', 'Owner'), ('manager', 'Manager'), ('analyst', 'Analyst'), ('viewer', 'Viewer')], default='viewer', max_length=10),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name='invitation',
            name='invited_by',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL),
        ),
        migrations.CreateModel(
            name='InvitationSite',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('invitation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='site_links', to='members.invitation')),
                ('site', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='streams.site')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('invitation', 'site'), name='one_invitation_link_per_site')],
            },
        ),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RemoveConstraint(model_name='invitation', name='one_invitation_per_address'),
        migrations.AlterField(
            model_name='invitation',
            name='organisation',
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='streams.organisation'),
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunSQL(EMPTY_STREAM, NO_INVITATIONS)],
            state_operations=[migrations.RemoveField(model_name='invitation', name='stream')],
        ),
    ]
