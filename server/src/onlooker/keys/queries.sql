-- name: find_key_bearer  a live key by its hash, and a stream by its client_id if the key reaches it
-- A key opens nothing while its organisation has no active owner.
SELECT key.id AS key_id, 'numbers' = ANY(key.scopes) AS reads_numbers,
       stream.id AS stream_id, stream.time_zone, stream.grid
FROM keys_organisationkey key
LEFT JOIN streams_stream stream
       ON stream.client_id = %(client_id)s::uuid AND stream.organisation_id = key.organisation_id
      AND stream.removed_at IS NULL
      AND (key.reaches_all
           OR EXISTS (SELECT FROM keys_keystream link WHERE link.key_id = key.id AND link.stream_id = stream.id)
           OR EXISTS (SELECT FROM keys_keysite link WHERE link.key_id = key.id AND link.site_id = stream.site_id))
WHERE key.sha256 = %(sha256)s
  AND key.revoked_at IS NULL AND (key.expires_at IS NULL OR key.expires_at > now())
  AND EXISTS (SELECT FROM streams_membership membership JOIN accounts_account owner ON owner.id = membership.account_id
              WHERE membership.organisation_id = key.organisation_id AND membership.role = 'owner' AND owner.is_active);

-- name: note_uses  that keys were used, to a minute; those that another process notes now are left to it
UPDATE keys_organisationkey SET used_at = now()
WHERE id IN (SELECT used.id FROM keys_organisationkey used
             WHERE used.id = ANY(%(key_ids)s::bigint[])
               AND (used.used_at IS NULL OR used.used_at < now() - interval '1 minute')
             ORDER BY used.id FOR NO KEY UPDATE SKIP LOCKED);
