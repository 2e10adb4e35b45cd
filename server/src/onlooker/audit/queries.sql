-- name: note_reading  one entry; numbered, dated and chained by the database
INSERT INTO audit_entry (stream_id, actor, action, detail)
VALUES (%(stream_id)s, %(actor)s, %(action)s, %(detail)s);

-- name: note_exports  the same of streams, unless one of the last entries says so already in this hour; always in the
-- same order, so that two at once wait for one another
INSERT INTO audit_entry (stream_id, actor, action, detail)
SELECT stream_id, %(actor)s::text, %(action)s::text, detail
FROM unnest(%(stream_ids)s::bigint[], %(details)s::text[]) exported (stream_id, detail)
WHERE NOT EXISTS (
    SELECT FROM audit_entry noted
    WHERE noted.stream_id = exported.stream_id AND noted.at >= date_trunc('hour', now())
      AND noted.number > (SELECT last_number - 1000 FROM audit_chain chain WHERE chain.stream_id = exported.stream_id)
      AND (noted.actor, noted.action, noted.detail) = (%(actor)s::text, %(action)s::text, exported.detail))
ORDER BY stream_id;

-- name: past_chains  some streams whose oldest entry is past its owner's time
SELECT stream_id FROM audit_chain chain
JOIN audit_entry oldest USING (stream_id)
LEFT JOIN audit_retention chosen USING (stream_id)
WHERE oldest.number = chain.first_number
  AND oldest.at < now() - interval '24 hours' * coalesce(chosen.days, %(days)s::integer)
LIMIT %(limit)s;

-- name: end_entries  what is past its owner's time, or all of a stream that is being removed; a function of the owner
SELECT audit_end(%(stream_id)s) AS ended;

-- name: past_organisation_chains  some organisations whose oldest entry is past its time
SELECT organisation_id FROM audit_organisationchain chain
JOIN audit_organisationentry oldest USING (organisation_id)
WHERE oldest.number = chain.first_number AND oldest.at < now() - interval '24 hours' * %(days)s::integer
LIMIT %(limit)s;

-- name: end_organisation_entries  what is past its time; a function of the owner
SELECT audit_end_organisation(%(organisation_id)s) AS ended;
