-- name: list_revoked  devices that were revoked lately, with their streams
SELECT device.id, stream.client_id
FROM devices_device device JOIN streams_stream stream ON stream.id = device.stream_id
WHERE device.revoked_at > now() - %(window_s)s * interval '1 second';

-- name: write_versions  the next version of each device whose settings are not what its newest version says
SELECT devices_write_versions(%(devices)s::bigint[], %(level)s);
