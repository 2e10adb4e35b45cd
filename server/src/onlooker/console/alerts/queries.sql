-- name: look_up_only  JIT compilation of the statements below would take longer than running them
SET LOCAL jit = off;

-- name: list_opening_hours  the different opening hours of all streams, each with its time zone
SELECT DISTINCT hours, time_zone FROM streams_stream WHERE hours <> '' AND removed_at IS NULL;

-- name: begin_silences  streams that were live and have sent nothing for as long as their owners chose to wait
-- Each stream's newest use and state are looked up by their indexes: no table of use or states is read as a whole.
-- A stream that used up its quota is expected again from the next month on.
-- A camera of which its agent reports that it gives no pictures is a blind camera: one mail is enough.
-- A silence that was due more than a day ago is skipped: alerts were just turned on, or we were down.
-- A stream with opening hours is expected while they last, from when they began: the wait starts again each time.
-- Where others stand at the same site the mail waits a little: they may be in it.
INSERT INTO alerts_silence (stream_id, reason, silent_since, begun_at, try_at)
SELECT stream.id,
       CASE WHEN change.state = 'quota' AND change.at >= date_trunc('month', %(now)s::timestamptz, 'UTC')
            THEN 'quota' ELSE 'silent' END,
       seen.last_frame_at, %(now)s, %(now)s + CASE WHEN EXISTS (
           SELECT FROM streams_stream other
           WHERE other.site_id = stream.site_id AND other.id <> stream.id AND other.removed_at IS NULL)
       THEN %(digest_s)s * interval '1 second' ELSE interval '0' END
FROM streams_stream stream
CROSS JOIN LATERAL (SELECT last_frame_at FROM streams_usage usage
                    WHERE usage.stream_id = stream.id AND usage.last_frame_at IS NOT NULL
                    ORDER BY usage.month DESC LIMIT 1) seen
LEFT JOIN LATERAL (SELECT change.state, change.at FROM streams_statechange change
                   WHERE change.stream_id = stream.id AND seen.last_frame_at IS NOT NULL
                   ORDER BY change.id DESC LIMIT 1) change ON true
LEFT JOIN unnest(%(open_hours)s::text[], %(open_zones)s::text[], %(open_since)s::timestamptz[])
          AS opened (hours, time_zone, since) ON opened.hours = stream.hours AND opened.time_zone = stream.time_zone
CROSS JOIN LATERAL (SELECT greatest(seen.last_frame_at, opened.since,
                                    CASE WHEN change.state = 'quota'
                                          AND change.at < date_trunc('month', %(now)s::timestamptz, 'UTC')
                                         THEN date_trunc('month', %(now)s::timestamptz, 'UTC') END) AS since) expected
WHERE stream.removed_at IS NULL AND stream.enabled AND stream.silence_alert_minutes > 0
  AND EXISTS (SELECT FROM streams_membership membership JOIN accounts_account owner ON owner.id = membership.account_id
              WHERE membership.organisation_id = stream.organisation_id AND membership.role = 'owner'
                AND owner.is_active)
  AND (stream.hours = '' OR opened.since IS NOT NULL)
  AND expected.since < %(now)s - stream.silence_alert_minutes * interval '1 minute'
  AND expected.since > %(now)s - stream.silence_alert_minutes * interval '1 minute' - interval '1 day'
  AND coalesce(change.state <> 'disabled'
               AND change.at < %(now)s - stream.silence_alert_minutes * interval '1 minute', true)
  AND NOT EXISTS (SELECT 1 FROM alerts_silence known WHERE known.stream_id = stream.id)
  AND NOT (stream.blind_alert_minutes > 0
           AND EXISTS (SELECT 1 FROM streams_agentcondition agent
                       WHERE agent.stream_id = stream.id AND agent.state <> 'seeing'
                         AND agent.received_at > %(now)s - %(fresh_s)s * interval '1 second'))
ON CONFLICT DO NOTHING
RETURNING stream_id;

-- name: end_silences  streams that are back
UPDATE alerts_silence silence SET back_at = seen.last_frame_at, tries = 0,
       try_at = %(now)s + CASE WHEN EXISTS (
           SELECT FROM streams_stream other
           WHERE other.site_id = stream.site_id AND other.id <> stream.id AND other.removed_at IS NULL)
       THEN %(digest_s)s * interval '1 second' ELSE interval '0' END
FROM streams_stream stream
CROSS JOIN LATERAL (SELECT last_frame_at FROM streams_usage usage
                    WHERE usage.stream_id = stream.id AND usage.last_frame_at IS NOT NULL
                    ORDER BY usage.month DESC LIMIT 1) seen
WHERE silence.stream_id = stream.id AND silence.back_at IS NULL AND seen.last_frame_at > silence.silent_since
RETURNING silence.stream_id;

-- name: forget_silences  silences that need no more mail: ended before the owner was told; both mails sent, an hour
-- after the first; of a stream that is turned off; or about a quota, once the next month has begun
DELETE FROM alerts_silence silence USING streams_stream stream
WHERE silence.stream_id = stream.id
  AND (stream.removed_at IS NOT NULL OR NOT stream.enabled OR stream.silence_alert_minutes = 0
       OR (silence.back_at IS NOT NULL AND silence.told_at IS NULL)
       OR (silence.reason = 'quota' AND silence.back_at IS NULL
           AND silence.begun_at < date_trunc('month', %(now)s::timestamptz, 'UTC')
           AND date_trunc('month', %(now)s::timestamptz, 'UTC')
               < %(now)s - stream.silence_alert_minutes * interval '1 minute')
       OR (silence.back_at IS NOT NULL AND silence.told_at < %(now)s - %(pair_s)s * interval '1 second'
           AND (silence.back_told_at IS NOT NULL OR silence.back_at < %(now)s - interval '1 day')));

-- name: take_silence_mails  mails that are due, longest waiting first; taking one reserves it for a while
-- To owners first, then managers, who can sign in, at a verified address each.
UPDATE alerts_silence silence
SET tries = silence.tries + 1,
    try_at = %(now)s + least(60 * 2 ^ least(silence.tries, 10), 3600) * interval '1 second'
FROM (SELECT due.stream_id, told.emails, stream.site_id
      FROM alerts_silence due
      JOIN streams_stream stream ON stream.id = due.stream_id
      CROSS JOIN LATERAL (
          SELECT array_agg(address.email ORDER BY person.id) AS emails
          FROM (SELECT account.id FROM streams_membership membership
                JOIN accounts_account account ON account.id = membership.account_id AND account.is_active
                WHERE membership.organisation_id = stream.organisation_id AND membership.role IN ('owner', 'manager')
                ORDER BY membership.role DESC, membership.id LIMIT %(people)s) person
          CROSS JOIN LATERAL (SELECT email FROM account_emailaddress address
                              WHERE address.user_id = person.id AND address.verified
                              ORDER BY address.primary DESC, address.id LIMIT 1) address) told
      WHERE due.try_at <= %(now)s AND told.emails IS NOT NULL
        AND ((due.told_at IS NULL AND due.back_at IS NULL AND due.begun_at > %(now)s - interval '1 day')
             OR (due.told_at IS NOT NULL AND due.back_at IS NOT NULL AND due.back_told_at IS NULL
                 AND due.back_at > %(now)s - interval '1 day'))
      ORDER BY due.try_at LIMIT %(limit)s FOR UPDATE OF due SKIP LOCKED) taken
WHERE silence.stream_id = taken.stream_id
RETURNING silence.stream_id, taken.emails, taken.site_id;

-- name: take_silences_of_site  what else is to be told of the site, also what still waits for others
UPDATE alerts_silence silence
SET tries = silence.tries + 1,
    try_at = %(now)s + least(60 * 2 ^ least(silence.tries, 10), 3600) * interval '1 second'
FROM (SELECT due.stream_id
      FROM alerts_silence due
      JOIN streams_stream stream ON stream.id = due.stream_id
      WHERE stream.site_id = %(site)s AND due.stream_id <> %(stream)s AND (due.try_at <= %(now)s OR due.tries = 0)
        AND ((due.told_at IS NULL AND due.back_at IS NULL AND due.begun_at > %(now)s - interval '1 day')
             OR (due.told_at IS NOT NULL AND due.back_at IS NOT NULL AND due.back_told_at IS NULL
                 AND due.back_at > %(now)s - interval '1 day'))
      ORDER BY due.stream_id LIMIT %(limit)s FOR UPDATE OF due SKIP LOCKED) taken
WHERE silence.stream_id = taken.stream_id
RETURNING silence.stream_id;

-- name: begin_blind_cameras  cameras that have seen nothing for as long as their owners chose to wait
-- What the agent says wins: without pictures there are no frames to judge. While the owner knows that the stream is
-- silent there is nothing to add. While a stream is closed nothing is to be seen; then the wait starts again.
INSERT INTO alerts_blindcamera (stream_id, reason, blind_since, begun_at, try_at)
SELECT stream.id, coalesce(agent.state, picture.fault), blind.since, %(now)s,
       %(now)s + CASE WHEN EXISTS (
           SELECT FROM streams_stream other
           WHERE other.site_id = stream.site_id AND other.id <> stream.id AND other.removed_at IS NULL)
       THEN %(digest_s)s * interval '1 second' ELSE interval '0' END
FROM streams_stream stream
LEFT JOIN streams_agentcondition agent
       ON agent.stream_id = stream.id AND agent.state <> 'seeing'
      AND agent.received_at > %(now)s - %(fresh_s)s * interval '1 second'
LEFT JOIN streams_picturecondition picture
       ON picture.stream_id = stream.id AND picture.fault <> ''
      AND picture.seen_at > %(now)s - %(fresh_s)s * interval '1 second'
LEFT JOIN unnest(%(open_hours)s::text[], %(open_zones)s::text[], %(open_since)s::timestamptz[])
          AS opened (hours, time_zone, since) ON opened.hours = stream.hours AND opened.time_zone = stream.time_zone
CROSS JOIN LATERAL (SELECT least(agent.blind_since_at, picture.blind_since_at) AS since) blind
WHERE stream.removed_at IS NULL AND stream.enabled AND stream.blind_alert_minutes > 0
  AND EXISTS (SELECT FROM streams_membership membership JOIN accounts_account owner ON owner.id = membership.account_id
              WHERE membership.organisation_id = stream.organisation_id AND membership.role = 'owner'
                AND owner.is_active)
  AND (stream.hours = '' OR opened.since IS NOT NULL)
  AND greatest(blind.since, opened.since) < %(now)s - stream.blind_alert_minutes * interval '1 minute'
  AND greatest(blind.since, opened.since) > %(now)s - stream.blind_alert_minutes * interval '1 minute' - interval '1 day'
  AND NOT EXISTS (SELECT 1 FROM alerts_blindcamera known WHERE known.stream_id = stream.id)
  AND NOT EXISTS (SELECT 1 FROM alerts_silence silence WHERE silence.stream_id = stream.id AND silence.back_at IS NULL)
ON CONFLICT DO NOTHING
RETURNING stream_id;

-- name: end_blind_cameras  cameras that have seen something for a minute
-- A stream that only analyses, and stores nothing, has an agent but no judgement of its pictures.
UPDATE alerts_blindcamera blind SET back_at = greatest(sight.since, blind.blind_since), tries = 0,
       try_at = %(now)s + CASE WHEN EXISTS (
           SELECT FROM streams_stream other
           WHERE other.site_id = stream.site_id AND other.id <> stream.id AND other.removed_at IS NULL)
       THEN %(digest_s)s * interval '1 second' ELSE interval '0' END
FROM alerts_blindcamera known
JOIN streams_stream stream ON stream.id = known.stream_id
LEFT JOIN streams_agentcondition agent
       ON agent.stream_id = known.stream_id AND agent.received_at > %(now)s - %(fresh_s)s * interval '1 second'
LEFT JOIN streams_picturecondition picture
       ON picture.stream_id = known.stream_id AND picture.seen_at > %(now)s - %(fresh_s)s * interval '1 second'
CROSS JOIN LATERAL (
    SELECT CASE WHEN agent.state <> 'seeing' THEN NULL
                WHEN picture.fault = '' THEN greatest(picture.since_at, agent.since_at)
                WHEN picture.fault IS NULL AND known.reason IN ('camera_lost', 'source_silent')
                THEN agent.since_at END AS since) sight
WHERE blind.stream_id = known.stream_id AND known.back_at IS NULL
  AND sight.since < %(now)s - %(sight_s)s * interval '1 second'
RETURNING blind.stream_id;

-- name: forget_blind_cameras  those that need no more mail: over before the owner was told; both mails sent, an hour
-- after the first; or of a stream that is turned off
DELETE FROM alerts_blindcamera blind USING streams_stream stream
WHERE blind.stream_id = stream.id
  AND (stream.removed_at IS NOT NULL OR NOT stream.enabled OR stream.blind_alert_minutes = 0
       OR (blind.back_at IS NOT NULL AND blind.told_at IS NULL)
       OR (blind.back_at IS NOT NULL AND blind.told_at < %(now)s - %(pair_s)s * interval '1 second'
           AND (blind.back_told_at IS NOT NULL OR blind.back_at < %(now)s - interval '1 day')));

-- name: take_blind_mails  the same about blind cameras
UPDATE alerts_blindcamera blind
SET tries = blind.tries + 1,
    try_at = %(now)s + least(60 * 2 ^ least(blind.tries, 10), 3600) * interval '1 second'
FROM (SELECT due.stream_id, told.emails, stream.site_id
      FROM alerts_blindcamera due
      JOIN streams_stream stream ON stream.id = due.stream_id
      CROSS JOIN LATERAL (
          SELECT array_agg(address.email ORDER BY person.id) AS emails
          FROM (SELECT account.id FROM streams_membership membership
                JOIN accounts_account account ON account.id = membership.account_id AND account.is_active
                WHERE membership.organisation_id = stream.organisation_id AND membership.role IN ('owner', 'manager')
                ORDER BY membership.role DESC, membership.id LIMIT %(people)s) person
          CROSS JOIN LATERAL (SELECT email FROM account_emailaddress address
                              WHERE address.user_id = person.id AND address.verified
                              ORDER BY address.primary DESC, address.id LIMIT 1) address) told
      WHERE due.try_at <= %(now)s AND told.emails IS NOT NULL
        AND ((due.told_at IS NULL AND due.back_at IS NULL AND due.begun_at > %(now)s - interval '1 day')
             OR (due.told_at IS NOT NULL AND due.back_at IS NOT NULL AND due.back_told_at IS NULL
                 AND due.back_at > %(now)s - interval '1 day'))
      ORDER BY due.try_at LIMIT %(limit)s FOR UPDATE OF due SKIP LOCKED) taken
WHERE blind.stream_id = taken.stream_id
RETURNING blind.stream_id, taken.emails, taken.site_id;

-- name: take_blind_cameras_of_site  what else is to be told of the site
UPDATE alerts_blindcamera blind
SET tries = blind.tries + 1,
    try_at = %(now)s + least(60 * 2 ^ least(blind.tries, 10), 3600) * interval '1 second'
FROM (SELECT due.stream_id
      FROM alerts_blindcamera due
      JOIN streams_stream stream ON stream.id = due.stream_id
      WHERE stream.site_id = %(site)s AND due.stream_id <> %(stream)s AND (due.try_at <= %(now)s OR due.tries = 0)
        AND ((due.told_at IS NULL AND due.back_at IS NULL AND due.begun_at > %(now)s - interval '1 day')
             OR (due.told_at IS NOT NULL AND due.back_at IS NOT NULL AND due.back_told_at IS NULL
                 AND due.back_at > %(now)s - interval '1 day'))
      ORDER BY due.stream_id LIMIT %(limit)s FOR UPDATE OF due SKIP LOCKED) taken
WHERE blind.stream_id = taken.stream_id
RETURNING blind.stream_id;

-- name: read_hours_to_judge  streams whose newest local hour is over and not judged yet, longest waiting first, each with
-- the watched hours of the weeks before
-- Taking a stream is part of this statement: what is found of it is written in the same transaction.
-- An hour waits until its last visits are written, and a stream until the roll-up of its last day is filled.
WITH due AS (
    INSERT INTO alerts_judgedhour AS known (stream_id, judged_until)
    SELECT stream.id, newest.ended_at
    FROM streams_stream stream
    CROSS JOIN LATERAL (SELECT (%(now)s::timestamptz - %(settle_s)s * interval '1 second')
                               AT TIME ZONE metrics_known_zone(stream.time_zone) AS clock) local
    CROSS JOIN LATERAL (SELECT %(now)s::timestamptz - %(settle_s)s * interval '1 second'
                               - (local.clock - date_trunc('hour', local.clock)) AS ended_at) newest
    LEFT JOIN alerts_judgedhour judged ON judged.stream_id = stream.id
    WHERE stream.removed_at IS NULL AND stream.enabled AND stream.unusual_alert
      AND (judged.judged_until IS NULL OR judged.judged_until < newest.ended_at)
      AND EXISTS (SELECT FROM streams_membership membership JOIN accounts_account owner ON owner.id = membership.account_id
                  WHERE membership.organisation_id = stream.organisation_id AND membership.role = 'owner'
                    AND owner.is_active)
      AND NOT EXISTS (SELECT FROM visits_mark mark
                      WHERE mark.stream_id = stream.id AND mark.slot_at < newest.ended_at
                        AND mark.slot_at >= newest.ended_at - interval '1 day')
    ORDER BY judged.judged_until NULLS FIRST, stream.id LIMIT %(limit)s
    ON CONFLICT (stream_id) DO UPDATE SET judged_until = excluded.judged_until
        WHERE known.judged_until < excluded.judged_until
    RETURNING stream_id, judged_until)
SELECT due.stream_id, due.judged_until, stream.time_zone, stream.hours,
       array_agg(hour.day ORDER BY hour.day, hour.hour), array_agg(hour.hour ORDER BY hour.day, hour.hour),
       array_agg(hour.watched_s ORDER BY hour.day, hour.hour),
       array_agg(hour.passing_by ORDER BY hour.day, hour.hour),
       array_agg(hour.interested ORDER BY hour.day, hour.hour)
FROM due
JOIN streams_stream stream ON stream.id = due.stream_id
CROSS JOIN LATERAL (SELECT metrics_known_zone(stream.time_zone) AS name OFFSET 0) zone
CROSS JOIN LATERAL (
    SELECT (coverage.slot_at AT TIME ZONE zone.name)::date AS day,
           extract(hour FROM coverage.slot_at AT TIME ZONE zone.name)::integer AS hour,
           sum(least(coverage.video_s, $slot_s)) AS watched_s,
           coalesce(sum(slot.passing_by), 0)::integer AS passing_by,
           coalesce(sum(slot.interested), 0)::integer AS interested
    FROM streams_coverage coverage
    LEFT JOIN metrics_slot slot ON slot.stream_id = coverage.stream_id AND slot.slot_at = coverage.slot_at
    WHERE coverage.stream_id = due.stream_id AND coverage.slot_at < due.judged_until
      AND coverage.slot_at >= due.judged_until - %(weeks)s * interval '7 days' - interval '1 day'
    GROUP BY 1, 2 HAVING count(*) <= 4) hour
GROUP BY due.stream_id, due.judged_until, stream.time_zone, stream.hours;

-- name: forget_unusual_days  those of which nothing follows any more
DELETE FROM alerts_unusualday WHERE day < %(day)s;

-- name: take_unusual_mails  the same about unusual days
UPDATE alerts_unusualday unusual
SET tries = unusual.tries + 1,
    try_at = %(now)s + least(60 * 2 ^ least(unusual.tries, 10), 3600) * interval '1 second'
FROM (SELECT due.id, told.emails, stream.site_id
      FROM alerts_unusualday due
      JOIN streams_stream stream ON stream.id = due.stream_id
      CROSS JOIN LATERAL (
          SELECT array_agg(address.email ORDER BY person.id) AS emails
          FROM (SELECT account.id FROM streams_membership membership
                JOIN accounts_account account ON account.id = membership.account_id AND account.is_active
                WHERE membership.organisation_id = stream.organisation_id AND membership.role IN ('owner', 'manager')
                ORDER BY membership.role DESC, membership.id LIMIT %(people)s) person
          CROSS JOIN LATERAL (SELECT email FROM account_emailaddress address
                              WHERE address.user_id = person.id AND address.verified
                              ORDER BY address.primary DESC, address.id LIMIT 1) address) told
      WHERE due.try_at <= %(now)s AND due.told_at IS NULL AND due.begun_at > %(now)s - interval '1 day'
        AND stream.removed_at IS NULL AND stream.unusual_alert AND told.emails IS NOT NULL
      ORDER BY due.try_at LIMIT %(limit)s FOR UPDATE OF due SKIP LOCKED) taken
WHERE unusual.id = taken.id
RETURNING unusual.id, taken.emails, taken.site_id;

-- name: take_unusual_days_of_site  what else is to be told of the site
UPDATE alerts_unusualday unusual
SET tries = unusual.tries + 1,
    try_at = %(now)s + least(60 * 2 ^ least(unusual.tries, 10), 3600) * interval '1 second'
FROM (SELECT due.id
      FROM alerts_unusualday due
      JOIN streams_stream stream ON stream.id = due.stream_id
      WHERE stream.site_id = %(site)s AND due.id <> %(stream)s AND (due.try_at <= %(now)s OR due.tries = 0)
        AND due.try_at IS NOT NULL AND due.told_at IS NULL AND due.begun_at > %(now)s - interval '1 day'
        AND stream.removed_at IS NULL AND stream.unusual_alert
      ORDER BY due.id LIMIT %(limit)s FOR UPDATE OF due SKIP LOCKED) taken
WHERE unusual.id = taken.id
RETURNING unusual.id;
