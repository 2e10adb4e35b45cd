-- name: count_waiting  accepted jobs of a stream that have not ended, and their bytes; no further than the limit
SELECT count(*) AS jobs, coalesce(sum(size_bytes), 0)::bigint AS size_bytes
FROM (SELECT size_bytes FROM gateway_job
      WHERE stream_id = %(stream_id)s AND finished_at IS NULL
      LIMIT %(waiting_limit)s) waiting;

-- name: accept_job  take a job in
INSERT INTO gateway_job (job_id, stream_id, service, version, session, request_id, params, attachments, size_bytes,
                         accepted_at, deadline_at, worker_deaths, expires_at)
VALUES (%(job_id)s, %(stream_id)s, %(service)s, %(version)s, %(session)s, %(request_id)s, %(params)s, %(attachments)s,
        %(size_bytes)s, now(), now() + %(time_limit_s)s * interval '1 second', 0,
        now() + (%(time_limit_s)s + %(retention_s)s) * interval '1 second')
RETURNING pg_notify('jobs', '');

-- name: find_job  an accepted job of one stream, unless it is past its retention
SELECT service, version, result, expires_at, finished_at IS NULL AND deadline_at < now() AS is_overdue
FROM gateway_job
WHERE job_id = %(job_id)s AND stream_id = %(stream_id)s AND expires_at > now();

-- name: remove_job  an accepted job of one stream, whether or not it has ended
DELETE FROM gateway_job
WHERE job_id = %(job_id)s AND stream_id = %(stream_id)s AND expires_at > now()
  AND service = %(service)s AND version = %(version)s
RETURNING job_id, attachments;

-- name: waiting_in_session  whether a session has accepted jobs that have not ended
SELECT 1 FROM gateway_job WHERE session = %(session)s AND finished_at IS NULL LIMIT 1;

-- name: waiting_jobs  the oldest waiting jobs of every stream that nobody holds, a session's one at a time
WITH RECURSIVE waiting AS (
    (SELECT stream_id FROM gateway_job WHERE finished_at IS NULL ORDER BY stream_id LIMIT 1)
    UNION ALL
    SELECT (SELECT stream_id FROM gateway_job
            WHERE finished_at IS NULL AND stream_id > waiting.stream_id ORDER BY stream_id LIMIT 1)
    FROM waiting WHERE waiting.stream_id IS NOT NULL)
SELECT waiting.stream_id, free.number, free.service
FROM waiting, LATERAL (
    SELECT number, service FROM (
        SELECT number, service, session, leased_until FROM gateway_job
        WHERE stream_id = waiting.stream_id AND finished_at IS NULL ORDER BY number LIMIT 100) oldest
    WHERE (leased_until IS NULL OR leased_until < now())
      AND (session IS NULL OR NOT EXISTS (
              SELECT 1 FROM gateway_job earlier
              WHERE earlier.session = oldest.session AND earlier.finished_at IS NULL
                AND earlier.number < oldest.number))
    ORDER BY number
    LIMIT %(limit)s) free;

-- name: lease_jobs  those of them that still nobody holds; and their streams' switches now
UPDATE gateway_job SET leased_until = now() + %(lease_s)s * interval '1 second'
FROM streams_stream stream
WHERE gateway_job.number = ANY(%(numbers)s) AND stream.id = gateway_job.stream_id
  AND finished_at IS NULL AND (leased_until IS NULL OR leased_until < now())
RETURNING gateway_job.number, job_id, stream_id, service, version, session, request_id, params, attachments,
          extract(epoch FROM accepted_at)::float AS accepted, extract(epoch FROM deadline_at)::float AS deadline,
          worker_deaths, reads_age, reads_gender, reads_expression, reads_faces, retention_days, time_zone;

-- name: renew_leases  this dispatcher still works on them
UPDATE gateway_job SET leased_until = now() + %(lease_s)s * interval '1 second'
WHERE number = ANY(%(numbers)s) AND finished_at IS NULL;

-- name: release_job  give a job back, to be taken up again a little later
UPDATE gateway_job SET leased_until = now() + %(wait_s)s * interval '1 second'
WHERE number = %(number)s AND finished_at IS NULL;

-- name: count_death  a worker died on this job
UPDATE gateway_job SET worker_deaths = worker_deaths + 1 WHERE number = %(number)s;

-- name: finish_job  the first result counts
UPDATE gateway_job
SET result = %(result)s, finished_at = now(), params = '', leased_until = NULL,
    expires_at = now() + %(retention_s)s * interval '1 second'
WHERE number = %(number)s AND finished_at IS NULL;

-- name: overdue_jobs  accepted jobs whose time limit has passed
SELECT number, job_id, stream_id, service, version, params, attachments FROM gateway_job
WHERE finished_at IS NULL AND deadline_at < now()
ORDER BY number LIMIT 100;

-- name: sweep_jobs  results past their retention
DELETE FROM gateway_job WHERE number IN (
    SELECT number FROM gateway_job WHERE expires_at < now() AND finished_at IS NOT NULL LIMIT 1000);

-- name: add_blob  refused (no row) when the stream keeps too much already
INSERT INTO gateway_blob (blob_id, stream_id, size_bytes, created_at, expires_at)
SELECT %(blob_id)s, %(stream_id)s, %(size_bytes)s, now(), now() + %(retention_s)s * interval '1 second'
WHERE %(size_bytes)s + (SELECT coalesce(sum(size_bytes), 0) FROM gateway_blob
                        WHERE stream_id = %(stream_id)s AND expires_at > now()) <= %(bytes_limit)s
RETURNING expires_at;

-- name: find_blob  a blob of one stream, unless it is past its retention
SELECT size_bytes FROM gateway_blob
WHERE blob_id = %(blob_id)s AND stream_id = %(stream_id)s AND expires_at > now();

-- name: remove_blob  a blob of one stream
DELETE FROM gateway_blob
WHERE blob_id = %(blob_id)s AND stream_id = %(stream_id)s AND expires_at > now()
RETURNING blob_id;

-- name: expired_blobs  blobs past their retention
SELECT blob_id FROM gateway_blob WHERE expires_at < now() LIMIT 500;

-- name: sweep_blobs  rows of blobs whose bytes are gone
DELETE FROM gateway_blob WHERE blob_id = ANY(%(blob_ids)s);

-- name: keep_workers  what the live workers say of themselves
INSERT INTO gateway_listedworker (instance, name, version, services, confined, seen_at)
SELECT instance, name, version, services, confined, now()
FROM jsonb_to_recordset(%(workers)s::jsonb)
     AS live (instance text, name text, version text, services text[], confined boolean)
ORDER BY instance
ON CONFLICT (instance) DO UPDATE
SET name = excluded.name, version = excluded.version, services = excluded.services, confined = excluded.confined,
    seen_at = excluded.seen_at;

-- name: forget_workers  those that no dispatcher has heard of for a while
DELETE FROM gateway_listedworker WHERE seen_at < now() - %(forget_after_s)s * interval '1 second';
