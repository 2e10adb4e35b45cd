-- name: judged_visits  what each visit counts as, whole or cut to a range. No column that is added here is ever
-- NULL, so that NOT in a metric's condition loses nobody: an unknown gender or emotion is '?', an unknown age band is 0.
-- `age` itself, like every column of the visit, is NULL where it is not known, and is there where it is only a guess.
-- Nothing but its times is known of a visit that is `grouped`: what is told about it comes in blocks. `$more` columns
-- are of no row of the roll-up, all of which is filled again when this text changes, be it by a space.
SELECT visit.*, senior_age, begins_at,
       present_for >= interval '$shortest_presence_s s' AS passing_by,
       longest_stop >= interval '$shortest_stop_s s' AS stopped,
       longest_stop >= interval '$shortest_stop_s s'
           AND looking_for > interval '$shortest_look_s s' AS interested,
       still_for, looking_for$more,
       coalesce(CASE WHEN NOT grouped AND gender_confidence > $gender_known_above THEN gender END, '$unknown') AS known_gender,
       CASE WHEN grouped THEN '$unknown' ELSE $strongest_emotion END AS known_emotion,
       CASE WHEN NOT grouped AND age_confidence > $age_known_above
            THEN coalesce(width_bucket(age::float8, ARRAY$first_ages::float8[]), 0) ELSE 0 END AS band
FROM ($visits) visit
CROSS JOIN metrics_state
$measured
WHERE begins_at IS NOT NULL

-- name: clip_to_range  part of judged_visits: only the intervals that lie inside the range of a query. Nearly all do, and to
-- compare their ends costs a third of cutting them.
CASE WHEN lower(visit.$intervals) >= $from_at AND upper(visit.$intervals) <= $to_at THEN visit.$intervals
     ELSE visit.$intervals * tstzmultirange(tstzrange($from_at, $to_at)) END

-- name: measured  part of judged_visits: when each visit begins, and how long it has what
CROSS JOIN LATERAL (SELECT min(lower(part)) AS begins_at, sum(upper(part) - lower(part)) AS present_for
                    FROM unnest($present ) part) presence
CROSS JOIN LATERAL (SELECT coalesce(sum(upper(part) - lower(part)), '0') AS still_for,
                           coalesce(max(upper(part) - lower(part)), '0') AS longest_stop
                    FROM unnest($still ) part) stops
CROSS JOIN LATERAL (SELECT coalesce(sum(upper(part) - lower(part)), '0') AS looking_for
                    FROM unnest($looking ) part) looks

-- name: measured_by_ends  the same for many visits, in a third of the time: see length_by_ends. OFFSET 0: once for each visit
CROSS JOIN LATERAL (SELECT lower($present) AS begins_at, $sum_of_present AS present_for, $sum_of_still AS still_for,
                           $max_of_still AS longest_stop, $sum_of_looking AS looking_for OFFSET 0) measured

-- name: length_by_ends  part of measured_by_ends: the sum or the maximum of what lies inside the range. Nearly all visits
-- have no interval of a kind, or one that is not cut; then its ends say it, and nothing is unnested.
CASE WHEN isempty(visit.$intervals) THEN interval '0'
     WHEN lower(visit.$intervals) >= $from_at AND upper(visit.$intervals) <= $to_at
          AND visit.$intervals = tstzmultirange(range_merge(visit.$intervals))
         THEN upper(visit.$intervals) - lower(visit.$intervals)
     ELSE (SELECT coalesce($aggregate(upper(part) - lower(part)), '0') FROM unnest($clipped) part) END
