-- name: read_week_people  what the visits of the blocks of a week tell now, by block, gender and age; each is judged whole
SELECT block.begins_at AS block_at, known_gender AS gender, band, $figures
FROM ($judged_visits) judged
JOIN unnest(%(begins_at)s::timestamptz[], %(ends_at)s::timestamptz[]) AS block (begins_at, ends_at)
    ON judged.slot_at >= block.begins_at AND judged.slot_at < block.ends_at
WHERE interested
GROUP BY 1, 2, 3;

-- name: insert_week_cell  keep what the people of a cell add up to
INSERT INTO metrics_weekcell (stream_id, begins_at, gender, age, $columns)
VALUES (%(stream_id)s, %(begins_at)s, %(gender)s, %(age)s, $figures);

-- name: read_told_weeks  the settings of a stream, and up to where its weeks are dealt with
SELECT time_zone, nullif(weeks_until, '-infinity') AS weeks_until
FROM streams_stream LEFT JOIN metrics_blockprogress ON stream_id = id WHERE id = %(stream_id)s;

-- name: read_weeks  the cells of the weeks that lie inside a range
SELECT begins_at, ends_at, genders, ages, gender, age, $columns
FROM metrics_week JOIN metrics_weekcell USING (stream_id, begins_at)
WHERE stream_id = %(stream_id)s AND begins_at >= %(from_at)s AND ends_at <= %(to_at)s ORDER BY begins_at, gender, age;

-- name: list_last_weeks  the latest weeks that are told
SELECT begins_at, ends_at FROM metrics_week WHERE stream_id = %(stream_id)s ORDER BY begins_at DESC LIMIT %(count)s;
