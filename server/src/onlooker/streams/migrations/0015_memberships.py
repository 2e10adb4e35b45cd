"""Owners and viewers become members of organisations: each account sees what it saw.

An account with streams gets an organisation of its own. Streams that the same people see, and to which the same
addresses are invited, get a site of theirs; their viewers are members with these sites.

Processes of the release before go on: a trigger keeps `owner_id`, the oldest owner's number, and `streams_member` is
a view of who is a viewer of what. The next release drops both. Nothing of this release reads them.
"""

from django.db import migrations, models

# Nothing changes for anybody, so nothing is logged: 10,000 streams take a second.
FILL = """
ALTER TABLE streams_stream DISABLE TRIGGER USER;
WITH owners AS MATERIALIZED (
    SELECT account.id AS account_id, account.email, account.created_at,
           nextval(pg_get_serial_sequence('streams_organisation', 'id')) AS id
    FROM accounts_account account
    WHERE EXISTS (SELECT FROM streams_stream WHERE owner_id = account.id)
), organisations AS (
    INSERT INTO streams_organisation (id, name, created_at) SELECT id, left(email, 100), created_at FROM owners
), memberships AS (
    INSERT INTO streams_membership (organisation_id, account_id, role, created_at)
    SELECT id, account_id, 'owner', created_at FROM owners
)
UPDATE streams_stream stream SET organisation_id = owners.id FROM owners WHERE owners.account_id = stream.owner_id;

WITH shared AS (
    SELECT stream.id, stream.organisation_id, stream.name, stream.time_zone, stream.hours,
           ARRAY(SELECT account_id FROM streams_member
                 WHERE stream_id = stream.id ORDER BY account_id) AS viewers,
           ARRAY(SELECT email::text FROM members_invitation
                 WHERE stream_id = stream.id AND expires_at > now() ORDER BY email) AS invited
    FROM streams_stream stream WHERE stream.removed_at IS NULL
), sets AS MATERIALIZED (
    SELECT nextval(pg_get_serial_sequence('streams_site', 'id')) AS site_id, together.*
    FROM (SELECT organisation_id, array_agg(id ORDER BY id) AS streams,
                 CASE WHEN count(*) = 1 THEN min(name)
                      ELSE left((array_agg(name ORDER BY id))[1], 70) || ' and ' || count(*) - 1 || ' more' END AS name,
                 (array_agg(time_zone ORDER BY id))[1] AS time_zone, (array_agg(hours ORDER BY id))[1] AS hours
          FROM shared WHERE cardinality(viewers) + cardinality(invited) > 0
          GROUP BY organisation_id, viewers, invited) together
), sites AS (
    INSERT INTO streams_site (id, organisation_id, name, time_zone, hours)
    SELECT site_id, organisation_id, name, time_zone, hours FROM sets
)
UPDATE streams_stream stream SET site_id = sets.site_id FROM sets WHERE stream.id = ANY(sets.streams);

INSERT INTO streams_membership (organisation_id, account_id, role, created_at)
SELECT stream.organisation_id, member.account_id, 'viewer', min(member.created_at)
FROM streams_member member JOIN streams_stream stream ON stream.id = member.stream_id
WHERE stream.removed_at IS NULL
GROUP BY stream.organisation_id, member.account_id
ON CONFLICT (organisation_id, account_id) DO NOTHING;

INSERT INTO streams_membershipsite (membership_id, site_id, created_at)
SELECT membership.id, stream.site_id, min(member.created_at)
FROM streams_member member
JOIN streams_stream stream ON stream.id = member.stream_id
JOIN streams_membership membership
  ON membership.organisation_id = stream.organisation_id AND membership.account_id = member.account_id
WHERE stream.removed_at IS NULL AND membership.role = 'viewer'
GROUP BY membership.id, stream.site_id;
-- What waits for the end of the transaction would forbid any further change of the tables.
SET CONSTRAINTS ALL IMMEDIATE;
ALTER TABLE streams_stream ENABLE TRIGGER USER;
"""
UNFILL = """
UPDATE streams_stream SET organisation_id = NULL, site_id = NULL;
DELETE FROM streams_membershipsite;
DELETE FROM streams_membership;
DELETE FROM streams_site;
DELETE FROM streams_organisation;
SET CONSTRAINTS ALL IMMEDIATE;
"""

SAME_ORGANISATION = """
ALTER TABLE streams_stream ADD CONSTRAINT stream_at_site_of_its_organisation
    FOREIGN KEY (site_id, organisation_id) REFERENCES streams_site (id, organisation_id) DEFERRABLE INITIALLY DEFERRED;
"""

# For the release before.
KEEP_OWNER = """
CREATE FUNCTION streams_organisation_of(owner bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE found bigint;
BEGIN
    SELECT organisation_id INTO found FROM streams_membership
    WHERE account_id = owner AND role = 'owner' ORDER BY id LIMIT 1;
    IF found IS NULL THEN
        INSERT INTO streams_organisation (name)
        VALUES (coalesce((SELECT left(email, 100) FROM accounts_account WHERE id = owner), '')) RETURNING id INTO found;
        INSERT INTO streams_membership (organisation_id, account_id, role) VALUES (found, owner, 'owner');
    END IF;
    RETURN found;
END $$;
CREATE FUNCTION streams_keep_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' AND NEW.organisation_id IS NULL AND NEW.owner_id IS NOT NULL THEN
        NEW.organisation_id := streams_organisation_of(NEW.owner_id);
    ELSIF TG_OP = 'UPDATE' AND NEW.owner_id IS NULL AND OLD.owner_id IS NOT NULL AND NEW.removed_at IS NOT NULL THEN
        NEW.organisation_id := NULL;
        NEW.site_id := NULL;
    ELSE
        NEW.owner_id := (SELECT account_id FROM streams_membership
                         WHERE organisation_id = NEW.organisation_id AND role = 'owner' ORDER BY id LIMIT 1);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER streams_keep_owner BEFORE INSERT OR UPDATE OF organisation_id, owner_id ON streams_stream
    FOR EACH ROW EXECUTE FUNCTION streams_keep_owner();
CREATE FUNCTION streams_change_owner() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE streams_stream SET organisation_id = organisation_id
    WHERE organisation_id = OLD.organisation_id AND owner_id = OLD.account_id;
    RETURN NULL;
END $$;
CREATE TRIGGER streams_change_owner AFTER UPDATE OR DELETE ON streams_membership
    FOR EACH ROW WHEN (OLD.role = 'owner') EXECUTE FUNCTION streams_change_owner();

DROP TABLE streams_member;
CREATE VIEW streams_member AS
SELECT link.id, greatest(membership.created_at, link.created_at) AS created_at, membership.account_id,
       stream.id AS stream_id
FROM streams_membership membership
JOIN streams_membershipsite link ON link.membership_id = membership.id
JOIN streams_stream stream ON stream.site_id = link.site_id AND stream.organisation_id = membership.organisation_id
WHERE membership.role = 'viewer' AND stream.removed_at IS NULL
UNION ALL
SELECT membership.id, membership.created_at, membership.account_id, stream.id
FROM streams_membership membership
JOIN streams_stream stream ON stream.organisation_id = membership.organisation_id
WHERE membership.role <> 'viewer' AND stream.owner_id <> membership.account_id AND stream.removed_at IS NULL;
-- A stream that it removes takes its viewers with it; they are none of its own.
CREATE RULE streams_member_stays AS ON DELETE TO streams_member DO INSTEAD NOTHING;
"""
UNKEEP_OWNER = """
CREATE TABLE streams_member_was AS SELECT stream_id, account_id, min(created_at) AS created_at
FROM streams_member GROUP BY stream_id, account_id;
DROP VIEW streams_member;
CREATE TABLE streams_member (
    id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    created_at timestamptz NOT NULL,
    account_id bigint NOT NULL REFERENCES accounts_account (id) DEFERRABLE INITIALLY DEFERRED,
    stream_id bigint NOT NULL REFERENCES streams_stream (id) DEFERRABLE INITIALLY DEFERRED,
    CONSTRAINT one_membership_per_account UNIQUE (stream_id, account_id)
);
CREATE INDEX streams_member_account_id ON streams_member (account_id);
INSERT INTO streams_member (stream_id, account_id, created_at)
SELECT stream_id, account_id, created_at FROM streams_member_was;
SET CONSTRAINTS ALL IMMEDIATE;
DROP TABLE streams_member_was;
CREATE TRIGGER audit_note_member AFTER INSERT OR DELETE ON streams_member
    FOR EACH ROW EXECUTE FUNCTION audit_note_member();
DROP TRIGGER streams_change_owner ON streams_membership;
DROP TRIGGER streams_keep_owner ON streams_stream;
DROP FUNCTION streams_change_owner(), streams_keep_owner(), streams_organisation_of(bigint);
"""


class Migration(migrations.Migration):

    dependencies = [
        ('streams', '0014_organisations'),
        ('audit', '0001_initial'),
        ('members', '0001_initial'),
        ('notices', '0001_initial'),
    ]

    operations = [
        migrations.RunSQL(FILL, UNFILL),
        migrations.RunSQL(
            SAME_ORGANISATION, 'ALTER TABLE streams_stream DROP CONSTRAINT stream_at_site_of_its_organisation'
        ),
        migrations.AddConstraint(
            model_name='stream',
            constraint=models.CheckConstraint(condition=models.Q(('organisation__isnull', False), ('removed_at__isnull', False), _connector='OR'), name='stream_has_organisation'),
        ),
        migrations.RunSQL(KEEP_OWNER, UNKEEP_OWNER),
    ]
