-- name: read_device_share  how much of a range devices computed by themselves, and how late the latest of it arrived
SELECT coalesce(sum(watched_s), 0) AS watched_s,
       coalesce(max(date_part('epoch', first_at - slot_at - $slot)), 0) AS late_s
FROM streams_devicecoverage
WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - $slot AND slot_at < %(to_at)s AND watched_s > 0;
