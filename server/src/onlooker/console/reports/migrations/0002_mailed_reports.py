"""Mailed reports. Triggers write into the organisation's audit log who changes them and who gets them."""

from importlib import import_module

import django.db.models.deletion
import django.db.models.functions.datetime
from django.conf import settings
from django.db import migrations, models

AUDIT_BEFORE = import_module("onlooker.audit.migrations.0002_organisations")

AUDIT = """
CREATE FUNCTION audit_note_report() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    report reports_mailedreport;
    changes jsonb;
BEGIN
    IF TG_OP = 'DELETE' THEN
        report := OLD;
    ELSE
        report := NEW;
    END IF;
    IF TG_OP = 'INSERT' THEN
        PERFORM audit_note_of(report.organisation_id, 'report.created', jsonb_build_object(
            'report', report.id, 'name', report.name,
            'stream', (SELECT name FROM streams_stream WHERE id = report.stream_id),
            'site', (SELECT name FROM streams_site WHERE id = report.site_id),
            'tag', (SELECT name FROM streams_tag WHERE id = report.tag_id)));
    ELSIF TG_OP = 'DELETE' THEN
        PERFORM audit_note_of(report.organisation_id, 'report.removed',
            jsonb_build_object('report', report.id, 'name', report.name));
    ELSE
        SELECT jsonb_object_agg(key, jsonb_build_array(was.value, becomes.value)) INTO changes
        FROM jsonb_each(to_jsonb(OLD)) was JOIN jsonb_each(to_jsonb(NEW)) becomes USING (key)
        WHERE key IN ('name', 'weekday', 'hour', 'period') AND was.value IS DISTINCT FROM becomes.value;
        PERFORM audit_note_of(report.organisation_id, 'report.changed',
            jsonb_build_object('report', report.id, 'name', report.name, 'changes', changes));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_report AFTER INSERT OR DELETE ON reports_mailedreport
    FOR EACH ROW EXECUTE FUNCTION audit_note_report();
CREATE TRIGGER audit_note_report_change AFTER UPDATE ON reports_mailedreport
    FOR EACH ROW WHEN ((OLD.name, OLD.weekday, OLD.hour, OLD.period)
                       IS DISTINCT FROM (NEW.name, NEW.weekday, NEW.hour, NEW.period))
    EXECUTE FUNCTION audit_note_report();
CREATE FUNCTION audit_note_recipient() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    one reports_reportrecipient;
    done text;
BEGIN
    IF TG_OP = 'DELETE' THEN
        one := OLD;
        done := 'report.recipient_removed';
    ELSE
        one := NEW;
        done := CASE WHEN TG_OP = 'INSERT' THEN 'report.recipient_added' ELSE 'report.unsubscribed' END;
    END IF;
    PERFORM audit_note_of(report.organisation_id, done, jsonb_build_object('report', report.id, 'name', report.name)
        || CASE WHEN one.account_id IS NULL THEN jsonb_build_object('address', audit_mask(one.email))
                ELSE jsonb_build_object('account', one.account_id) END)
    FROM reports_mailedreport report WHERE report.id = one.report_id;
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_recipient AFTER INSERT ON reports_reportrecipient
    FOR EACH ROW EXECUTE FUNCTION audit_note_recipient();
CREATE TRIGGER audit_note_recipient_removal AFTER DELETE ON reports_reportrecipient
    FOR EACH ROW WHEN (OLD.stopped_at IS NULL) EXECUTE FUNCTION audit_note_recipient();
CREATE TRIGGER audit_note_recipient_end AFTER UPDATE ON reports_reportrecipient
    FOR EACH ROW WHEN (OLD.stopped_at IS NULL AND NEW.stopped_at IS NOT NULL)
    EXECUTE FUNCTION audit_note_recipient();
CREATE FUNCTION audit_note_report_policy() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM audit_note_of(NEW.organisation_id, 'reports.outside', jsonb_build_object('allowed', NEW.allows_outside));
    RETURN NULL;
END $$;
CREATE TRIGGER audit_note_report_policy AFTER INSERT ON reports_reportpolicy
    FOR EACH ROW WHEN (NEW.allows_outside) EXECUTE FUNCTION audit_note_report_policy();
CREATE TRIGGER audit_note_report_policy_change AFTER UPDATE ON reports_reportpolicy
    FOR EACH ROW WHEN (OLD.allows_outside <> NEW.allows_outside) EXECUTE FUNCTION audit_note_report_policy();
"""
UNAUDIT = """
DROP TRIGGER audit_note_report ON reports_mailedreport;
DROP TRIGGER audit_note_report_change ON reports_mailedreport;
DROP TRIGGER audit_note_recipient ON reports_reportrecipient;
DROP TRIGGER audit_note_recipient_removal ON reports_reportrecipient;
DROP TRIGGER audit_note_recipient_end ON reports_reportrecipient;
DROP TRIGGER audit_note_report_policy ON reports_reportpolicy;
DROP TRIGGER audit_note_report_policy_change ON reports_reportpolicy;
DROP FUNCTION audit_note_report(), audit_note_recipient(), audit_note_report_policy();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('reports', '0001_shared_links'),
        ('streams', '0016_notes'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ReportPolicy',
            fields=[
                ('organisation', models.OneToOneField(db_index=False, on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='report_policy', serialize=False, to='streams.organisation')),
                ('allows_outside', models.BooleanField(db_default=False, default=False)),
            ],
        ),
        migrations.CreateModel(
            name='MailedReport',
            fields=[
                ('period', models.CharField(blank=True, max_length=20)),
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('weekday', models.SmallIntegerField(null=True)),
                ('hour', models.SmallIntegerField()),
                ('due_at', models.DateTimeField()),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='mailedreports', to=settings.AUTH_USER_MODEL)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.organisation')),
                ('site', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.site')),
                ('stream', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.stream')),
                ('tag', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='streams.tag')),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='ReportRecipient',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('email', models.EmailField(blank=True, max_length=254)),
                ('stopped_at', models.DateTimeField(null=True)),
                ('account', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='mailed_reports', to=settings.AUTH_USER_MODEL)),
                ('report', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='recipients', to='reports.mailedreport')),
            ],
        ),
        migrations.CreateModel(
            name='ReportMail',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('due_at', models.DateTimeField()),
                ('sent_at', models.DateTimeField(null=True)),
                ('tries', models.SmallIntegerField(db_default=0, default=0)),
                ('try_at', models.DateTimeField()),
                ('recipient', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='mails', to='reports.reportrecipient')),
            ],
        ),
        migrations.AddIndex(
            model_name='mailedreport',
            index=models.Index(fields=['due_at'], name='report_due'),
        ),
        migrations.AddConstraint(
            model_name='mailedreport',
            constraint=models.CheckConstraint(condition=models.Q(('stream', None), models.Q(('site', None), ('tag', None)), _connector='OR'), name='mailedreport_of_one_thing'),
        ),
        migrations.AddConstraint(
            model_name='mailedreport',
            constraint=models.CheckConstraint(condition=models.Q(('hour__range', (0, 23)), models.Q(('weekday', None), ('weekday__range', (0, 6)), _connector='OR')), name='mailedreport_has_a_time'),
        ),
        migrations.AddConstraint(
            model_name='reportrecipient',
            constraint=models.UniqueConstraint(fields=('report', 'account', 'email'), name='one_row_per_recipient', nulls_distinct=False),
        ),
        migrations.AddConstraint(
            model_name='reportrecipient',
            constraint=models.CheckConstraint(condition=models.Q(('account', None), ('email', ''), _connector='XOR'), name='recipient_is_a_member_or_outside'),
        ),
        migrations.AddIndex(
            model_name='reportmail',
            index=models.Index(condition=models.Q(('sent_at', None)), fields=['try_at'], name='report_mail_due'),
        ),
        migrations.AddConstraint(
            model_name='reportmail',
            constraint=models.UniqueConstraint(fields=('recipient', 'due_at'), name='one_mail_per_occurrence'),
        ),
        migrations.RunSQL(AUDIT + AUDIT_BEFORE.CLOSE, UNAUDIT),
    ]
