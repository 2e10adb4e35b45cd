-- Statements that read sums of whole hours; of hours inside which a cut lies, they read the slots. Each row has the
-- number of the cut that it lies behind. Slots inside which a cut lies come one by one, with the second at which they
-- begin: the caller divides them. Values such as $stream_id become numbered parameters.

-- name: watched  seconds that were covered; the current slot is as long as it has lasted. A row with number -1 has the
-- second up to which some coverage was deleted, or now, where opening hours say how much of the time counts; there is
-- none if the stream is gone.
WITH given AS MATERIALIZED ($given)
SELECT width_bucket(hour_at, (SELECT cuts FROM given)), NULL::float8, sum(covered_s)
FROM metrics_coveragehour
WHERE $whole_hours
GROUP BY 1
UNION ALL
SELECT width_bucket(slot_at, (SELECT cuts FROM given)), $cut_slot, sum(least(video_s, $slot_s, date_part('epoch', $now - slot_at)))
FROM $cut_runs
JOIN streams_coverage ON $slots_of_run
GROUP BY 1, 2
UNION ALL
SELECT -1, NULL, CASE WHEN EXISTS (SELECT 1 FROM streams_openinghours WHERE stream_id = $stream_id)
                      THEN date_part('epoch', $now) ELSE extract(epoch FROM coverage_since)::float8 END
FROM streams_stream WHERE id = $stream_id

-- name: quality  sums of frames by version, with the first slot of each
WITH given AS MATERIALIZED ($given)
SELECT width_bucket(hour_at, (SELECT cuts FROM given)), NULL::float8, min(since_at), models_version, pipeline_version,
       sum(frames), sum(video_s), sum(dark_frames), sum(face_frames), sum(face_video_s), $faces_of_hours
FROM metrics_qualityhour
WHERE $whole_hours
GROUP BY 1, 4, 5
UNION ALL
SELECT width_bucket(slot_at, (SELECT cuts FROM given)), $cut_slot, min(slot_at), models_version, pipeline_version,
       sum(frames)::bigint, sum(video_s), sum(dark_frames)::bigint, sum(face_frames)::bigint, sum(face_video_s),
       $faces_of_slots
FROM $cut_runs
JOIN streams_quality ON $slots_of_run
GROUP BY 1, 2, 4, 5

-- name: given  part of both: the cuts, and the hours and slots inside which one lies
SELECT ARRAY(SELECT to_timestamp(unnest($cuts_s::float8[]))) AS cuts,
       ARRAY(SELECT to_timestamp(unnest($cut_hours_s::bigint[]))) AS cut_hours,
       ARRAY(SELECT to_timestamp(unnest($cut_slots_s::bigint[]))) AS cut_slots

-- name: whole_hours  part of both: hours that lie between two cuts. By a hash: on a clock that is half an hour off, a
-- year has thousands of cut hours.
stream_id = $stream_id AND hour_at >= $from_at AND hour_at < $to_at
  AND hour_at NOT IN (SELECT unnest(cut_hours) FROM given)

-- name: cut_runs  part of both: runs of hours inside each of which a cut lies
unnest($run_begins_s::bigint[], $run_ends_s::bigint[]) AS run (begins_s, ends_s)

-- name: slots_of_run  part of both: the slots of such hours
stream_id = $stream_id AND slot_at >= to_timestamp(begins_s) AND slot_at < to_timestamp(ends_s)

-- name: cut_slot  part of both: when the slot begins, if a cut lies inside it
CASE WHEN slot_at = ANY((SELECT cut_slots FROM given)::timestamptz[]) THEN extract(epoch FROM slot_at)::float8 END
