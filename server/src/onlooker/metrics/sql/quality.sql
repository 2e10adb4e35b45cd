-- name: read_version_changes  the slots inside a range in which most frames were computed by another version than in the
-- last slot before
SELECT slot_at, models_version, pipeline_version, models_before, pipeline_before
FROM (SELECT slot_at, models_version, pipeline_version, lag(models_version) OVER later AS models_before,
             lag(pipeline_version) OVER later AS pipeline_before
      FROM (SELECT DISTINCT ON (slot_at) slot_at, models_version, pipeline_version FROM streams_quality
            WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - $slot AND slot_at < %(to_at)s
            ORDER BY slot_at, frames DESC, models_version, pipeline_version) main
      WINDOW later AS (ORDER BY slot_at)) told
WHERE (models_version, pipeline_version) <> (models_before, pipeline_before)
ORDER BY slot_at;

-- name: read_view_changes  the slots inside a range in which the camera came to show another view
SELECT slot_at FROM streams_blindness
WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - $slot AND slot_at < %(to_at)s AND fault = 'moved'
ORDER BY slot_at;
