-- name: read_quality  how well frames could be looked at between consecutive cuts, by version, each with the first slot. A
-- slot that is cut counts in proportion; the current slot is as long as it has lasted. Most slots are not cut: the first
-- half sums those up.
WITH given AS MATERIALIZED (
    SELECT ARRAY(SELECT to_timestamp(unnest(%(cuts_s)s::float8[]))) AS cuts,
           ARRAY(SELECT to_timestamp(unnest(%(cut_slots_s)s::float8[]))) AS cut_slots)
SELECT width_bucket(slot_at, (SELECT cuts FROM given)) AS number, min(slot_at) AS since_at, models_version, pipeline_version,
       sum(frames)::float8, sum(video_s), sum(dark_frames)::float8, sum(face_frames)::float8, sum(face_video_s),
       ARRAY[sum(faces[1]), sum(faces[2]), sum(faces[3]), sum(faces[4]),
             sum(faces[5]), sum(faces[6]), sum(faces[7]), sum(faces[8]),
             sum(faces[9]), sum(faces[10]), sum(faces[11]), sum(faces[12]),
             sum(faces[13]), sum(faces[14]), sum(faces[15]), sum(faces[16])]::float8[]
FROM streams_quality
WHERE stream_id = %(stream_id)s AND slot_at > %(from_at)s - $slot AND slot_at < %(to_at)s
  AND slot_at <> ALL((SELECT cut_slots FROM given)::timestamptz[])
GROUP BY 1, 3, 4
UNION ALL
SELECT number, min(slot_at), models_version, pipeline_version,
       sum(share * frames), sum(share * video_s), sum(share * dark_frames), sum(share * face_frames),
       sum(share * face_video_s),
       ARRAY[sum(share * faces[1]), sum(share * faces[2]), sum(share * faces[3]), sum(share * faces[4]),
             sum(share * faces[5]), sum(share * faces[6]), sum(share * faces[7]), sum(share * faces[8]),
             sum(share * faces[9]), sum(share * faces[10]), sum(share * faces[11]), sum(share * faces[12]),
             sum(share * faces[13]), sum(share * faces[14]), sum(share * faces[15]), sum(share * faces[16])]::float8[]
FROM given
CROSS JOIN streams_quality
CROSS JOIN LATERAL generate_series(
    greatest(1, width_bucket(slot_at, cuts)),
    least(width_bucket(slot_at + $slot - interval '1 microsecond', cuts), cardinality(cuts) - 1)) number
CROSS JOIN LATERAL (
    SELECT date_part('epoch', least(slot_at + $slot, cuts[number + 1]) - greatest(slot_at, cuts[number]))
           / least($slot_s, date_part('epoch', %(now)s - slot_at)) AS share) part
WHERE stream_id = %(stream_id)s AND slot_at = ANY(cut_slots)
GROUP BY 1, 3, 4
ORDER BY 1, 2, 3, 4;

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
