-- name: list_revoked  devices that were revoked lately, with their streams, and keys with no stream of their own
SELECT 'device' AS kind, device.id, stream.client_id
FROM devices_device device JOIN streams_stream stream ON stream.id = device.stream_id
WHERE device.revoked_at > now() - %(window_s)s * interval '1 second'
UNION ALL
SELECT 'key', key.id, NULL
FROM keys_organisationkey key
WHERE key.revoked_at > now() - %(window_s)s * interval '1 second';
