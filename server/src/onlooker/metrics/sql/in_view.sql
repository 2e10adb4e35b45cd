-- name: read_in_view  how many open visits were written lately, by the database's clock, and how many of those people look,
-- unless that is told of groups alone; cameras have clocks of their own
SELECT count(*) AS people,
       CASE WHEN (SELECT grouped_until = 'infinity' FROM streams_stream WHERE id = %(stream_id)s) IS NOT TRUE
            THEN count(*) FILTER (WHERE upper(looking) >= upper(present) - interval '1 second') END AS looking
FROM visits_visit
WHERE stream_id = %(stream_id)s AND NOT ended AND written_at > now() - %(within_s)s * interval '1 second';
