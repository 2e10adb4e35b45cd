-- name: find_stream  a stream by its client_id, with its live tokens and keys, this month's use and the state the log has
-- It computes while its organisation has an active owner.
SELECT stream.id, stream.kind,
       stream.enabled AND EXISTS (SELECT FROM streams_membership membership JOIN accounts_account owner ON owner.id = membership.account_id
               WHERE membership.organisation_id = stream.organisation_id AND membership.role = 'owner'
                 AND owner.is_active) AS enabled,
       stream.reads_age, stream.reads_gender, stream.reads_expression, stream.reads_faces, stream.retention_days,
       stream.groups_of,
       stream.time_zone, stream.hours, extract(epoch FROM stream.hours_since)::float8 AS hours_since_s,
       stream.compute, coalesce(usage.video_s, 0) AS video_s,
       (SELECT change.state FROM streams_statechange change
        WHERE change.stream_id = stream.id ORDER BY change.id DESC LIMIT 1) AS logged_state,
       tokens.hashes AS token_hashes, tokens.trial_hashes, keys.hashes AS key_hashes, keys.numbers AS key_numbers
FROM streams_stream stream
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(token.sha256) FILTER (WHERE NOT token.is_trial), '{}') AS hashes,
           coalesce(array_agg(token.sha256) FILTER (WHERE token.is_trial), '{}') AS trial_hashes
    FROM streams_accesstoken token
    WHERE token.stream_id = stream.id AND (token.expires_at IS NULL OR token.expires_at > now())) tokens
CROSS JOIN LATERAL (
    SELECT coalesce(array_agg(key.sha256 ORDER BY key.id), '{}') AS hashes,
           coalesce(array_agg(key.id ORDER BY key.id), '{}') AS numbers
    FROM keys_organisationkey key
    WHERE key.organisation_id = stream.organisation_id AND 'frames' = ANY(key.scopes)
      AND key.revoked_at IS NULL AND (key.expires_at IS NULL OR key.expires_at > now())
      AND (key.reaches_all
           OR EXISTS (SELECT FROM keys_keystream link WHERE link.key_id = key.id AND link.stream_id = stream.id)
           OR EXISTS (SELECT FROM keys_keysite link WHERE link.key_id = key.id AND link.site_id = stream.site_id))) keys
LEFT JOIN streams_usage usage
       ON usage.stream_id = stream.id AND usage.month = %(month)s
WHERE stream.client_id = %(client_id)s AND stream.removed_at IS NULL;

-- name: add_usage  count computed video and return the months' totals; always in the same order, to avoid deadlocks
INSERT INTO streams_usage (stream_id, month, video_s, last_frame_at)
SELECT stream.id, counted.month, counted.video_s, CASE WHEN counted.seen THEN now() END
FROM unnest(%(stream_ids)s::bigint[], %(months)s::date[], %(video_s)s::float8[], %(seen)s::boolean[])
     AS counted (stream_id, month, video_s, seen)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2
ON CONFLICT (stream_id, month) DO UPDATE SET
    video_s = streams_usage.video_s + excluded.video_s, last_frame_at = coalesce(excluded.last_frame_at, streams_usage.last_frame_at)
RETURNING stream_id, month, video_s;

-- name: add_coverage  count computed video by slot
INSERT INTO streams_coverage (stream_id, slot_at, video_s)
SELECT stream.id, to_timestamp(counted.slot * $slot_s), counted.video_s
FROM unnest(%(stream_ids)s::bigint[], %(slots)s::bigint[], %(video_s)s::float8[]) AS counted (stream_id, slot, video_s)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2
ON CONFLICT (stream_id, slot_at) DO UPDATE SET video_s = streams_coverage.video_s + excluded.video_s;

-- name: add_refusals  count refused frames by slot and reason
INSERT INTO streams_refusal (stream_id, slot_at, reason, frames)
SELECT stream.id, to_timestamp(counted.slot * $slot_s), counted.reason, counted.frames
FROM unnest(%(stream_ids)s::bigint[], %(slots)s::bigint[], %(reasons)s::text[], %(frames)s::bigint[])
     AS counted (stream_id, slot, reason, frames)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2, 3
ON CONFLICT (stream_id, slot_at, reason) DO UPDATE SET frames = streams_refusal.frames + excluded.frames;

-- name: add_blindness  count computed video in which the camera saw nothing, by slot and fault
INSERT INTO streams_blindness (stream_id, slot_at, fault, video_s)
SELECT stream.id, to_timestamp(counted.slot * $slot_s), counted.fault, counted.video_s
FROM unnest(%(stream_ids)s::bigint[], %(slots)s::bigint[], %(faults)s::text[], %(video_s)s::float8[])
     AS counted (stream_id, slot, fault, video_s)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2, 3
ON CONFLICT (stream_id, slot_at, fault) DO UPDATE SET video_s = streams_blindness.video_s + excluded.video_s;

-- name: note_pictures  whether cameras see now; `since` is when the newest run of frames that say so began
-- Where no frame came for a while nothing is known in between. Sight of a few seconds does not end a blind time: a new
-- session sees until its faults have settled.
INSERT INTO streams_picturecondition AS known (stream_id, fault, since_at, blind_since_at, seen_at)
SELECT stream.id, newest.fault, to_timestamp(newest.since),
       CASE WHEN newest.fault <> '' THEN to_timestamp(newest.since) END, now()
FROM unnest(%(stream_ids)s::bigint[], %(faults)s::text[], %(since)s::float8[]) AS newest (stream_id, fault, since)
JOIN streams_stream stream ON stream.id = newest.stream_id
ORDER BY 1
ON CONFLICT (stream_id) DO UPDATE SET
    fault = excluded.fault,
    since_at = CASE WHEN known.fault = excluded.fault
                     AND known.seen_at > excluded.since_at - %(gap_s)s * interval '1 second'
                    THEN known.since_at ELSE excluded.since_at END,
    blind_since_at = CASE
        WHEN known.seen_at <= excluded.since_at - %(gap_s)s * interval '1 second' THEN excluded.blind_since_at
        WHEN known.fault <> '' OR known.since_at > excluded.since_at - %(sight_s)s * interval '1 second'
        THEN coalesce(known.blind_since_at, excluded.blind_since_at)
        ELSE excluded.blind_since_at END,
    seen_at = excluded.seen_at
WHERE excluded.since_at >= known.since_at;

-- name: put_condition  what an agent reports of its camera; no row where the stream is gone
-- The same moment, told twice, differs by the time that the requests took.
INSERT INTO streams_agentcondition AS known
       (stream_id, state, since_at, blind_since_at, over_s, sent, dropped, version, received_at)
SELECT stream.id, told.state, told.since_at, CASE WHEN told.state <> 'seeing' THEN told.since_at END,
       %(over_s)s, %(sent)s, %(dropped)s::jsonb, %(version)s::text, now()
FROM streams_stream stream
CROSS JOIN (SELECT %(state)s::text AS state, now() - %(since_s)s * interval '1 second' AS since_at) told
WHERE stream.id = %(stream_id)s AND stream.removed_at IS NULL
ON CONFLICT (stream_id) DO UPDATE SET
    state = excluded.state,
    since_at = CASE WHEN known.state = excluded.state
                     AND known.since_at BETWEEN excluded.since_at - interval '5 seconds'
                                            AND excluded.since_at + interval '5 seconds'
                    THEN known.since_at ELSE excluded.since_at END,
    blind_since_at = CASE WHEN excluded.state <> 'seeing' AND known.received_at > now() - %(gap_s)s * interval '1 second'
                          THEN least(known.blind_since_at, excluded.blind_since_at)
                          ELSE excluded.blind_since_at END,
    over_s = excluded.over_s, sent = excluded.sent, dropped = excluded.dropped, version = excluded.version,
    received_at = excluded.received_at;

-- name: add_quality  count frames, their seconds and their faces by slot and version
INSERT INTO streams_quality (stream_id, slot_at, models_version, pipeline_version,
                             frames, video_s, dark_frames, face_frames, face_video_s, faces)
SELECT stream.id, to_timestamp(counted.slot * $slot_s), counted.models, counted.pipeline,
       counted.frames, counted.video_s, counted.dark_frames, counted.face_frames, counted.face_video_s,
       counted.faces::int[]
FROM unnest(%(stream_ids)s::bigint[], %(slots)s::bigint[], %(models)s::text[], %(pipelines)s::text[],
            %(frames)s::bigint[], %(video_s)s::float8[], %(dark_frames)s::bigint[], %(face_frames)s::bigint[],
            %(face_video_s)s::float8[], %(faces)s::text[])
     AS counted (stream_id, slot, models, pipeline, frames, video_s, dark_frames, face_frames, face_video_s, faces)
JOIN streams_stream stream ON stream.id = counted.stream_id
ORDER BY 1, 2, 3, 4
ON CONFLICT (stream_id, slot_at, models_version, pipeline_version) DO UPDATE SET
    frames = streams_quality.frames + excluded.frames,
    video_s = streams_quality.video_s + excluded.video_s,
    dark_frames = streams_quality.dark_frames + excluded.dark_frames,
    face_frames = streams_quality.face_frames + excluded.face_frames,
    face_video_s = streams_quality.face_video_s + excluded.face_video_s,
    faces = ARRAY(SELECT one + other FROM unnest(streams_quality.faces, excluded.faces) WITH ORDINALITY
                  AS added (one, other, place) ORDER BY place);

-- name: read_device_slots  what devices told of some slots before
SELECT extract(epoch FROM slot_at)::bigint / $slot_s AS slot, device, revision, watched_s, counted_s, sums
FROM streams_devicecoverage
WHERE stream_id = %(stream_id)s
  AND slot_at = ANY(ARRAY(SELECT to_timestamp(unnest(%(slots)s::bigint[]) * $slot_s)));

-- name: read_usage  how much of some months a stream has used
SELECT month, video_s FROM streams_usage WHERE stream_id = %(stream_id)s AND month = ANY(%(months)s::date[]);

-- name: put_device_slots  what a device told of some slots; only a higher revision replaces another
INSERT INTO streams_devicecoverage AS known
       (stream_id, slot_at, device, revision, watched_s, counted_s, sums, first_at, last_at, whole_at)
SELECT stream.id, to_timestamp(told.slot * $slot_s), %(device)s::uuid, told.revision, told.watched_s, told.counted_s,
       told.sums::jsonb, now(), now(), CASE WHEN %(whole)s THEN now() END
FROM unnest(%(slots)s::bigint[], %(revisions)s::int[], %(watched_s)s::float8[], %(counted_s)s::float8[],
            %(sums)s::text[]) AS told (slot, revision, watched_s, counted_s, sums)
JOIN streams_stream stream ON stream.id = %(stream_id)s
ORDER BY 2
ON CONFLICT (stream_id, slot_at, device) DO UPDATE SET
    revision = excluded.revision, watched_s = excluded.watched_s, counted_s = excluded.counted_s, sums = excluded.sums,
    last_at = excluded.last_at, whole_at = coalesce(known.whole_at, excluded.whole_at)
WHERE known.revision < excluded.revision;

-- name: lock_stream  before its state is read; in a statement of its own, so that the next one sees what others wrote
SELECT streams_lock(%(stream_id)s);

-- name: log_state  log what a stream may do now, if the log does not say so already
INSERT INTO streams_statechange (stream_id, at, state)
SELECT now_so.stream_id, clock_timestamp(), now_so.state
FROM (SELECT stream.id AS stream_id,
             CASE WHEN NOT stream.enabled OR NOT EXISTS (SELECT FROM streams_membership membership JOIN accounts_account owner ON owner.id = membership.account_id
                                 WHERE membership.organisation_id = stream.organisation_id AND membership.role = 'owner'
                                   AND owner.is_active)
                  THEN 'disabled'
                  WHEN stream.kind = 'developer' AND usage.video_s >= %(quota_s)s THEN 'quota'
                  ELSE 'enabled' END AS state
      FROM streams_stream stream
      LEFT JOIN streams_usage usage ON usage.stream_id = stream.id AND usage.month = %(month)s
      WHERE stream.id = %(stream_id)s) now_so
WHERE now_so.state IS DISTINCT FROM (SELECT change.state FROM streams_statechange change
                                     WHERE change.stream_id = now_so.stream_id
                                     ORDER BY change.id DESC LIMIT 1);

-- name: read_statuses  this month's use, the newest frame and the newest state of some streams
SELECT stream.id AS stream_id, coalesce(usage.video_s, 0) AS used_s, frame.at AS last_frame_at,
       extract(epoch FROM now() - frame.at)::float8 AS silent_s, change.at AS state_at
FROM streams_stream stream
LEFT JOIN streams_usage usage ON usage.stream_id = stream.id AND usage.month = %(month)s
LEFT JOIN LATERAL (SELECT max(last_frame_at) AS at FROM streams_usage months
                   WHERE months.stream_id = stream.id) frame ON true
LEFT JOIN LATERAL (SELECT newest.at FROM streams_statechange newest
                   WHERE newest.stream_id = stream.id ORDER BY newest.id DESC LIMIT 1) change ON true
WHERE stream.id = ANY(%(stream_ids)s);

-- name: find_bearer  whether a token's credential is valid: the access token, its stream, and the account's right to see it
-- A member sees all streams of the organisation, a viewer those of chosen sites.
SELECT stream.id AS stream_id, stream.time_zone, stream.grid,
       extract(epoch FROM greatest(membership.created_at, link.created_at))::float AS since
FROM streams_accesstoken token
JOIN streams_stream stream ON stream.id = token.stream_id
JOIN accounts_account account ON account.id = %(user_id)s
JOIN streams_membership membership
  ON membership.organisation_id = stream.organisation_id AND membership.account_id = account.id
LEFT JOIN streams_membershipsite link
       ON link.membership_id = membership.id AND link.site_id = stream.site_id AND membership.role = 'viewer'
WHERE token.id = %(credential)s
  AND NOT token.is_trial
  AND (token.expires_at IS NULL OR token.expires_at > now())
  AND stream.client_id = %(client_id)s AND stream.removed_at IS NULL
  AND account.is_active
  AND (membership.role <> 'viewer' OR link.id IS NOT NULL);

-- name: list_public_keys  the keys that verify tokens; the console creates them and keeps their private parts sealed
SELECT kid, public_jwk FROM tokens_signingkey WHERE retires_at IS NULL OR retires_at > now();
