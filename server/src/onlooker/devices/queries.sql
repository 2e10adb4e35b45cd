-- name: list_revoked  devices that were revoked lately, with their streams, and keys with no stream of their own
SELECT 'device' AS kind, device.id, stream.client_id
FROM devices_device device JOIN streams_stream stream ON stream.id = device.stream_id
WHERE device.revoked_at > now() - %(window_s)s * interval '1 second'
UNION ALL
SELECT 'key', key.id, NULL
FROM keys_organisationkey key
WHERE key.revoked_at > now() - %(window_s)s * interval '1 second';

-- name: write_versions  the next version of each device whose settings are not what its newest version says
SELECT devices_write_versions(%(devices)s::bigint[], %(level)s);

-- name: find_offer  a device by its key, and what it is offered
-- `is_current`: whether the newest version says what is set now.
SELECT device.id, device.revoked_at IS NOT NULL OR stream.removed_at IS NOT NULL AS is_revoked,
    newest.settings IS NOT DISTINCT FROM devices_merge(levels.below, device.settings, levels.zone) AS is_current,
    CASE WHEN newest.state IN ('refused', 'rolled_back') THEN good.version ELSE newest.version END AS version,
    CASE WHEN newest.state IN ('refused', 'rolled_back') THEN good.etag ELSE newest.etag END AS etag,
    CASE WHEN newest.state IN ('refused', 'rolled_back') THEN good.settings ELSE newest.settings END AS settings
FROM devices_device device
JOIN streams_stream stream ON stream.id = device.stream_id
JOIN devices_levels() levels ON levels.device_id = device.id
LEFT JOIN LATERAL (
    SELECT version, etag, settings, state FROM devices_deviceconfiguration one
    WHERE one.device_id = device.id ORDER BY version DESC LIMIT 1
) newest ON true
LEFT JOIN LATERAL (
    SELECT version, etag, settings FROM devices_deviceconfiguration one
    WHERE one.device_id = device.id AND one.state = 'applied' AND newest.state IN ('refused', 'rolled_back')
    ORDER BY version DESC LIMIT 1
) good ON true
WHERE device.key_sha256 = %(key_sha256)s;

-- name: record_health  the report of a device by its key: its newest, and its minute of the day
-- Says what it is offered, and as what the version is known of which it reports.
WITH device AS MATERIALIZED (
    SELECT device.id, device.settings, device.revoked_at IS NOT NULL OR stream.removed_at IS NOT NULL AS is_revoked
    FROM devices_device device JOIN streams_stream stream ON stream.id = device.stream_id
    WHERE device.key_sha256 = %(key_sha256)s
), newest_report AS (
    INSERT INTO devices_devicestatus (device_id, reported_at, version, machine, state, condition, camera_name,
        camera_state, configuration_etag, configuration_state, configuration_reason, health)
    SELECT id, now(), %(version)s, %(machine)s, %(state)s, %(condition)s, %(camera_name)s, %(camera_state)s,
        %(configuration_etag)s, %(configuration_state)s, %(configuration_reason)s, %(health)s::jsonb
    FROM device WHERE NOT is_revoked
    ON CONFLICT (device_id) DO UPDATE SET reported_at = excluded.reported_at, version = excluded.version,
        machine = excluded.machine, state = excluded.state, condition = excluded.condition,
        camera_name = excluded.camera_name, camera_state = excluded.camera_state,
        configuration_etag = excluded.configuration_etag, configuration_state = excluded.configuration_state,
        configuration_reason = excluded.configuration_reason, health = excluded.health
), minute AS (
    INSERT INTO devices_devicehealth (device_id, slot, at, uptime_s, state, condition, grabbed, answered, dropped, light,
        temperature_c, disk_free_mb, disk_total_mb, memory_mb, clock_off_s, latency_ms, kbytes_s, journal_waiting,
        journal_bytes, journal_lost)
    SELECT id, extract(hour FROM now() AT TIME ZONE 'UTC') * 60 + extract(minute FROM now() AT TIME ZONE 'UTC'), now(),
        %(uptime_s)s, %(state)s, %(condition)s, %(grabbed)s, %(answered)s, %(dropped)s::jsonb, %(light)s,
        %(temperature_c)s, %(disk_free_mb)s, %(disk_total_mb)s, %(memory_mb)s, %(clock_off_s)s, %(latency_ms)s,
        %(kbytes_s)s, %(journal_waiting)s, %(journal_bytes)s, %(journal_lost)s
    FROM device WHERE NOT is_revoked
    ON CONFLICT (device_id, slot) DO UPDATE SET at = excluded.at, uptime_s = excluded.uptime_s, state = excluded.state,
        condition = excluded.condition, grabbed = excluded.grabbed, answered = excluded.answered,
        dropped = excluded.dropped, light = excluded.light, temperature_c = excluded.temperature_c,
        disk_free_mb = excluded.disk_free_mb, disk_total_mb = excluded.disk_total_mb, memory_mb = excluded.memory_mb,
        clock_off_s = excluded.clock_off_s, latency_ms = excluded.latency_ms, kbytes_s = excluded.kbytes_s,
        journal_waiting = excluded.journal_waiting, journal_bytes = excluded.journal_bytes,
        journal_lost = excluded.journal_lost
)
SELECT device.id, device.is_revoked, newest.settings IS NOT DISTINCT FROM devices_merge(levels.below, device.settings, levels.zone) AS is_current,
    CASE WHEN newest.state IN ('refused', 'rolled_back') THEN good.etag ELSE newest.etag END AS etag,
    known.state IS NOT NULL AND (known.state, known.reason)
        IS DISTINCT FROM (%(configuration_state)s, %(configuration_reason)s) AS is_news
FROM device
JOIN devices_levels() levels ON levels.device_id = device.id
LEFT JOIN LATERAL (
    SELECT etag, settings, state FROM devices_deviceconfiguration one
    WHERE one.device_id = device.id ORDER BY version DESC LIMIT 1
) newest ON true
LEFT JOIN LATERAL (
    SELECT etag FROM devices_deviceconfiguration one
    WHERE one.device_id = device.id AND one.state = 'applied' AND newest.state IN ('refused', 'rolled_back')
    ORDER BY version DESC LIMIT 1
) good ON true
LEFT JOIN LATERAL (
    SELECT state, reason FROM devices_deviceconfiguration one
    WHERE one.device_id = device.id AND one.etag = %(configuration_etag)s AND %(configuration_state)s <> ''
) known ON true;

-- name: preview_settings  what devices are set to, and what they would be with these changes of their own settings
SELECT device.id, devices_merge(levels.below, device.settings, levels.zone) AS before,
    devices_merge(levels.below, jsonb_strip_nulls(device.settings || %(changes)s::jsonb), levels.zone) AS after
FROM devices_device device
JOIN devices_levels() levels ON levels.device_id = device.id
WHERE device.id = ANY (%(devices)s::bigint[]);

-- name: change_settings  change the own settings of many devices; locked in the order of their numbers
UPDATE devices_device device SET settings = jsonb_strip_nulls(device.settings || %(changes)s::jsonb)
FROM (
    SELECT id FROM devices_device
    WHERE id = ANY (%(devices)s::bigint[]) AND revoked_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
) locked
WHERE device.id = locked.id
RETURNING device.id;
