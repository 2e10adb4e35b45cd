"""What docs/generate.py can't read from the source: meanings of codes, metrics and routes."""


class Undocumented(Exception):
    """Something in the source has no explanation here, or an explanation has nothing in the source."""


PROBLEMS = {
    "missing_token": (
        "There is no `Authorization: Bearer` header.",
        "Get a token from the token endpoint, and send it.",
    ),
    "invalid_jwt": (
        "The token is not from this server, was modified, or its credential, stream, membership or account ended.",
        "Request a new one from the token endpoint.",
    ),
    "expired_jwt": ("The token is older than 5 hours.", "Request a new one from the token endpoint."),
    "bad_credentials": (
        "No credentials, an unknown `client_id`, or a wrong `access_token`. At the token endpoint also a wrong "
        "`username`. The error does not say which is wrong.",
        "Check all of them. A rotated `access_token` ends after its grace period.",
    ),
    "invalid_key": (
        "The [key](../guides/keys.md) is unknown, was revoked or has expired. The error does not say which.",
        "Create another one in the console, on the organisation's page under Keys.",
    ),
    "missing_scope": (
        "The key is valid, and has no scope for this request.",
        "`detail` names the scope. Create a key that has it.",
    ),
    "quota_exceeded": (
        "A developer stream has used up its monthly quota of computed video. `resets_at` is the start of the next "
        "month.",
        "Wait, or make it an enterprise stream.",
    ),
    "stream_disabled": (
        "The stream or its owner's account is disabled.",
        "Enable the stream in its settings in the console, or with `onlooker stream set CLIENT_ID --enabled`. Staff "
        "can enable accounts.",
    ),
    "stream_closed": (
        "The stream has opening hours, and the frame was taken outside them. `opens_at` is when it opens next, and "
        "`Retry-After` says how long to wait at most before asking again.",
        "Wait. Change the opening hours in the stream's settings, or with `onlooker stream set CLIENT_ID --hours`.",
    ),
    "enrolment_refused": (
        "The code is unknown, has expired, was ended, or as many devices have enrolled as it is for. Also where the "
        "organisation has as many streams as it may. Returned by the console when a device enrols.",
        "`detail` says which. Create a new code in the console, under Devices.",
    ),
    "device_revoked": (
        "The device was revoked or replaced in the console, or its stream was removed. Returned when the device asks "
        "the console for a credential.",
        "Create a new code in the console, and enrol the device again.",
    ),
    "forbidden": (
        "The key has the scope, and may not do this all the same: it acts as manager where an owner is needed, or is "
        "for some sites and streams alone.",
        "`detail` says which. Use a key that acts as owner, or one for the whole organisation.",
    ),
    "conflict": (
        "The [management interface](../guides/api.md) can't do this now: a limit is reached, a rule is in the way, an "
        "`Idempotency-Key` was used for another request, or the first request with it is still in progress.",
        "`detail` says which, and what to do. With `Retry-After`, send the same request again after so many seconds.",
    ),
    "not_found": (
        "The service, version, job, blob, session or feed does not exist, is past its retention, or belongs to another "
        "stream. Also returned for routes that a trial token can't use, and for a stream that a key does not reach.",
        "Check the URL. Follow the URLs in the responses.",
    ),
    "method_not_allowed": ("The resource does not support this method.", "The `Allow` header lists the methods."),
    "request_timeout": (
        "The body took too long to arrive, or a feed's input was idle for too long.",
        "Send the request again.",
    ),
    "too_large": (
        "A body (10 MiB; 128 KiB of a batch of visits), its JSON (1 MiB, also inflated), a part or the media of one "
        "job exceeds the size limit, or the stream stores too many bytes of blobs.",
        "Send less, or delete blobs.",
    ),
    "unsupported_media_type": (
        "The body is neither `application/json` nor `multipart/form-data`, or it has a `Content-Encoding`: only a "
        "batch of visits may be deflated. The token endpoint and that batch accept only the first.",
        "Set `Content-Type`, and send the body uncompressed.",
    ),
    "bad_request": (
        "Malformed JSON or multipart, a missing or invalid field, a missing attachment, a foreign URL. At the data "
        "endpoint: a missing, invalid or repeated parameter, an invalid range, a page after the last one.",
        "`detail` names the field or parameter and how to fix it. Repeating the request does not help.",
    ),
    "rate_limited": (
        "The stream sends too many requests a second, begins too many sessions, has more in progress than its share of "
        "the gateway, its results are too large, or its devices send too many batches or visits. At the token "
        "endpoint: too many failures in the last minute.",
        "Wait `Retry-After` seconds, then continue.",
    ),
    "overloaded": (
        "No live worker runs the service, there is no free capacity, too many requests of a session or accepted jobs "
        "of the stream are waiting, or a part of the server is unavailable; also if the bus does not accept the visits "
        "of a frame. At the data endpoint: a query took longer than `ONLOOKER_DATA_TIME_LIMIT_S`, or too many are in "
        "progress.",
        "Wait `Retry-After` seconds, then send the request again. If it persists, add workers; at the data endpoint, "
        "request less.",
    ),
    "internal_error": (
        "A server error.",
        "Find the response's `X-Request-Id` in the server's log, and report it.",
    ),
}

JOB_ERRORS = {
    "bad_image": (
        "The image is neither JPEG nor PNG, is damaged or truncated, or has more than 30 scans.",
        "Send a complete JPEG or PNG file.",
    ),
    "image_too_large": (
        "According to its header, the image has more than 20 megapixels, or a side of more than 1,000,000 pixels.",
        "Send a smaller one.",
    ),
    "faces_off": (
        "The stream only counts people, so no face may be looked for. Returned by `face_detection`, `gaze_analysis`, "
        "`age_and_gender_estimation` and `face_expression_estimation`.",
        "Use `scene_analysis`, whose `bodies` are the people, or let the stream look for faces in its settings.",
    ),
    "bad_timestamp": (
        "With `store` true: the timestamp is more than 5 minutes ahead of the server's clock, or older than the "
        "stream's retention. With or without it: the timestamp is of 1970 or before.",
        "Set the device's clock, or send with `store` false.",
    ),
    "bad_baseline": (
        "The distance between the microphones is less than 0.01 or more than 5 metres.",
        "Send their distance in metres as `baseline`.",
    ),
    "bad_sound": (
        "The sound is not a complete WAV file with 16-bit PCM, 48 kHz and two channels.",
        "Send such a file; `error` describes what this one is.",
    ),
    "time_limit": ("The job did not end within its time limit.", "Send a smaller input, or add workers."),
    "worker_died": ("Two computing processes ended while running this job.", "Try another input, and report this one."),
    "result_too_large": ("The result is larger than 1 MiB.", "Send a simpler input."),
    "internal_error": ("The service failed on this input. This is a bug.", "See the server's log, and report it."),
    "service_gone": (
        "The service was removed from the catalogue after the job was accepted.",
        "Use another version.",
    ),
    "attachment_gone": ("An attachment disappeared from the blob store before the job ran.", "Send it again."),
}

METRICS = {
    "onlooker_console_provider_sign_ins": "Sign-ins with [organisations' providers](../guides/sign-in.md). `refused`: "
    "somebody is not let in; `failed`: the provider did not answer, or what it answered could not be verified.",
    "onlooker_webhook_events": "Events for [webhooks](../guides/webhooks.md). `dropped`: 10,000 waited for the webhook "
    "already; `expired`: it waited for 14 days.",
    "onlooker_webhook_tries": "Tries to deliver an event. `delivered`, or why not: `bad_url`, `unresolved`, `inside` "
    "(an address inside), `unreachable`, `tls`, `time_limit`, `closed`, `not_http`, `redirect`, `gone`, `status` or "
    "`secret` (the secret key has changed).",
    "onlooker_webhook_disabled": "Webhooks that were disabled: `failed` (nothing was accepted for three days) or "
    "`gone` (410).",
    "onlooker_webhook_busy": "Webhooks that this console delivers to right now, 32 at most.",
    "onlooker_requests": "Answered requests. `route` is a name from [routes.md](routes.md), or `none` if the request "
    "was refused before routing; status 499: the client disconnected.",
    "onlooker_request_seconds": "Time from the first byte of a request to the end of its response.",
    "onlooker_refusals": "Requests answered with a problem. `code` is one of [errors.md](errors.md).",
    "onlooker_stream_refusals": "Requests refused as too many, too large or too slow, by stream and code, for the 200 "
    "streams that were refused last: who a bad neighbour is.",
    "onlooker_connections": "Connections that are open.",
    "onlooker_connections_refused": "Connections that were closed at once. `reason`: `address` (it has too many), "
    "`limit` (there are too many), `files` (the system allows no more open files), `handshake` (TLS failed or took "
    "longer than 5 seconds).",
    "onlooker_jobs": "Jobs. `state` is `computed` or `failed` for synchronous jobs and frames of feeds, `accepted` and "
    "later `finished` for async ones. `reason` is the `error_code`, empty on success.",
    "onlooker_job_queue_seconds": "Time from sending a job to a worker until the worker starts it.",
    "onlooker_job_compute_seconds": "Time a worker spent on a job.",
    "onlooker_job_resends": "Jobs sent again. `reason`: `worker_died`, `process_ended` (a computing process), "
    "`worker_left` (it stopped), `bus_lost`, `state_not_kept` (the bus did not take the session's state).",
    "onlooker_results_not_stored": "Results that were returned but could not be stored. A later GET of them is 404.",
    "onlooker_live_workers": "Workers that replied to this process on the bus in the last few seconds, and whose clock "
    "is right.",
    "onlooker_clock_offset_seconds": "How far this machine's clock is ahead of the database's. Beyond "
    "`ONLOOKER_CLOCK_LIMIT_S` the process does not serve.",
    "onlooker_worker_clock_offset_seconds": "How far the clock of a worker is ahead, only for workers that get no jobs "
    "because of it.",
    "onlooker_standby_lag_seconds": "How old the newest moment is at which the standby for numbers had everything.",
    "onlooker_standby_in_use": "1 while numbers are read from the standby, 0 while from the primary.",
    "onlooker_device_items": "Visits and slots that devices computed by themselves. `kind`: `visit`, `slot`. "
    "`outcome`: `accepted`, or the code of a refusal ([visits](../concepts/visits.md#visits-from-devices)).",
    "onlooker_device_health_reports": "[Health reports](../guides/devices.md#health) of devices. `outcome`: "
    "`accepted`, or the code of a refusal.",
    "onlooker_device_configurations": "What devices made of a version of their "
    "[configuration](../guides/devices.md#settings-from-the-console). `state`: `trying`, `applied`, `refused`, "
    "`rolled_back`; each is counted once for a device and a version.",
    "onlooker_ready": "1 when this process can serve, 0 when not: what `/readyz` says, as a number.",
    "onlooker_ready_check": "What a process needs before it can serve: 1 where it is there. `check`: `bus`, "
    "`database`, `clock`, `computing` (of a worker), `migrations` (while it waits for them).",
    "onlooker_database_connections": "Connections to the database that the pools of this process have. `state`: "
    "`in_use`, `idle`.",
    "onlooker_database_connections_limit": "Connections that these pools may have.",
    "onlooker_database_waiting": "Requests in this process that wait for a connection.",
    "onlooker_certificate_days": "Days until a certificate expires that this process shows, or one above it in its "
    "file; as the file was when the process started. `setting`: `tls_certificate_file` (HTTPS), "
    "`nats_certificate_file` (the bus). Nothing where a proxy does HTTPS, or the bus has no TLS.",
    "onlooker_trace_spans": "Spans of traces. `outcome`: `sent`, `lost` (the collector did not take them).",
    "onlooker_swept": "Deleted expired items. `kind`: `result`, `blob`, `orphan` (attachment without job).",
    "onlooker_worker_jobs": "Tasks received by a worker. `outcome`: `done`, an `error_code`, `refused` (queue full), "
    "`expired` (nobody waits any more), `undecodable`, or `unanswered` (the bus connection was lost).",
    "onlooker_worker_queue_seconds": "The same queue time as above, measured by the worker.",
    "onlooker_worker_compute_seconds": "The same compute time as above, measured by the worker.",
    "onlooker_worker_session_loads": "Session states read from the bus. `reason`: `unknown` (new to this worker), "
    "`conflict` (another worker wrote since), `unreadable` (another release wrote it).",
    "onlooker_worker_confined": "1 where the computing process can do nothing but compute, 0 with "
    "`ONLOOKER_CONFINEMENT=off`.",
    "onlooker_worker_processes_ended": "Computing processes that ended. `reason`: `violation` (a forbidden system "
    "call: somebody may have tried to take it over), `exit`, or the name of a signal.",
    "onlooker_worker_processes_killed": "Computing processes that their worker ended. `reason`: `overdue` (a call took "
    "too long), `untrue` (an answer that can't be true), `replaced` (after many jobs), `evicted` (for another "
    "stream). All but the last are also among those that ended, as `SIGKILL`.",
    "onlooker_worker_visits": "Visits that a worker sent to the bus for a recorder. `outcome`: `published`, or "
    "`refused` (the bus did not accept it; the job is not answered until it does).",
    "onlooker_frames_skipped": "Frames that were answered without being analysed. `reason`: `out_of_order` (older "
    "than the session's last one).",
    "onlooker_recorder_visits": "Visits received by a recorder. `outcome`: `written`, `known` (the same or a higher "
    "revision already exists), `expired` (after its stream's retention), `stream_gone` (dropped: its stream was "
    "removed).",
    "onlooker_recorder_refused": "Attempts to write a visit that failed because of the visit. `reason`: `refused` (by "
    "the database), `out_of_range` (in a month that no stream keeps, or too far in the future).",
    "onlooker_recorder_put_aside": "Messages that were given up and moved to the table `visits_putaside`. `reason`: as "
    "above, or `undecodable` (not a visit).",
    "onlooker_recorder_batch_seconds": "Time to write one batch of visits.",
    "onlooker_recorder_waiting": "Messages with visits on the bus that no recorder has finished.",
    "onlooker_recorder_sessions_closed": "Sessions whose visits a recorder closed. `how`: `deleted` (by the client), "
    "`silent`, `state_gone` (its state no longer exists).",
    "onlooker_recorder_removed": "Deleted expired items. `kind`: `visit`, `device_slot`, `partition`, `put_aside`.",
    "onlooker_bucket_filled": "Share of a bucket's disk on the bus that is used, 0 to 1, measured every 30 seconds. "
    "`bucket`: `session-states-0` (states of sessions and the results in them), `results-0`, a number for each shard; "
    "`visits` (visits that wait for a recorder).",
    "onlooker_bucket_short_seconds": "By how many seconds the oldest record of a full bucket is younger than records "
    "are to be kept: results vanish early. 0 otherwise.",
    "onlooker_bucket_leader": "1 while a server of the bus leads the stream of a bucket and answers, 0 while none "
    "does: then nothing is read or written. Buckets are those above.",
    "onlooker_metrics_weeks_released": "Weeks of streams that tell about people in groups of which something is told "
    "by gender and age together: it is frozen from then on.",
    "onlooker_metrics_blocks_released": "Blocks of at least as many people as a stream groups (`--groups-of`): what is "
    "told about them is frozen from then on.",
    "onlooker_metrics_slots_filled": "Slots of 15 minutes whose roll-up a recorder filled.",
    "onlooker_metrics_slots_marked": "Slots whose visits changed since, and which wait to be filled. Numbers are still "
    "correct: queries read the visits of such slots one by one, which is slower.",
    "onlooker_data_requests": "Answered requests of a data endpoint. `route` is a name from "
    "[routes.md](routes.md#routes-of-the-data-endpoint), or `none` if the request was refused before routing; "
    "status 499: the client disconnected.",
    "onlooker_data_request_seconds": "Time from the first byte of such a request to the end of its response.",
    "onlooker_data_refusals": "Such requests that were answered with a problem, and tables that were cut off. "
    "`code` is one of [errors.md](errors.md).",
    "onlooker_data_query_seconds": "Time to query the database for one page of numbers; a table consists of many. "
    "`time` is how the range is split, from `by_quarter_hour` to `by_month`, or `global`.",
    "onlooker_console_requests": "Requests that reached the console's pages. `route` is a name from "
    "[routes.md](routes.md#routes-of-the-console), `admin:...` for the staff pages, or `none` if no page has the "
    "URL. Static files are not counted, nor are requests refused for their size or for lack of capacity.",
    "onlooker_console_request_seconds": "Time to answer such a request, once its body has arrived.",
    "onlooker_console_live": "Dashboards that this console currently keeps live: each is one open request.",
    "onlooker_console_live_refused": "Dashboards that could not be kept live, and retry. `reason`: `full` "
    "(`ONLOOKER_CONSOLE_LIVE_LIMIT`), `account_full` (`ONLOOKER_CONSOLE_LIVE_LIMIT_PER_ACCOUNT`).",
    "onlooker_console_chores": "Runs of chores by name. `outcome`: `done`, `put_off` (the database, the mail server or "
    "another part was unavailable), `failed` (a bug: the log has the exception). Only one console runs chores.",
    "onlooker_console_mails": "E-mails about silent streams (`kind`: `silent`, `quota`, `back`), about cameras that "
    "see nothing or see again (`blind`, `sees`) and invitations (`invitation`). `outcome`: `sent`, `failed`. E-mails "
    "about accounts and billing are not counted.",
}

DATA_ROUTES = {
    "show_entities": "Metrics of the token's stream over a range, in buckets; a page has 50, and links to the next",
    "show_table": "The same as one table for a spreadsheet: one row per bucket, one column per figure",
    "show_parquet": "The rows of that table as Apache Parquet, with types and what they mean",
    "show_openapi": "This interface as an OpenAPI document, with an example",
    "show_live": "Whether the process runs",
    "show_ready": "Whether it can serve: it reaches the database",
}

CONSOLE_ROUTES = {
    "home": "Redirects to the streams",
    "streams": "The overview: the streams of the account's organisations, with their numbers for 7 days; `?q=`, "
    "`?site=`, `?tag=` and `?state=` find some, `?sort=` orders them; for HTMX only the list",
    "fleet-numbers": "Numbers of all streams together, or of `?site=` or `?tag=`, over `?days=7`, 30, 90 or 365",
    "fleet-numbers-json": "The same as JSON, with the days and the streams of the group; `?after=` goes on",
    "fleet-days-csv": "The same by day as a CSV file: one row per day, with what was watched and the notes",
    "fleet-days-parquet": "The same rows as a Parquet file, with types",
    "fleet-totals-csv": "The numbers of all these days together as a CSV file: one row, with all metrics",
    "fleet-totals-parquet": "The same row as a Parquet file, with types",
    "fleet-changes-csv": "Their changes as a CSV file, with the columns of a dashboard's changes",
    "fleet-changes-parquet": "The same rows as a Parquet file, with types",
    "comparison": "Rows side by side, each `?row=stream:...`, `site:...` or `tag:...`; `?metric=` is drawn, `?find=` "
    "finds rows to add; for HTMX only what is found",
    "comparison-csv": "The same as a CSV file: one row per number, with its interval and rank",
    "comparison-parquet": "The same rows as a Parquet file, with types",
    "before-after": "A `?row=` in the `?weeks=` from a `?date=` on, against as many before it",
    "before-after-csv": "The same as a CSV file, with the columns of a dashboard's changes",
    "before-after-parquet": "The same rows as a Parquet file, with types",
    "streams-change": "Changes many streams at once, with a preview: site, tags, retention, opening hours, groups",
    "dashboard": "A stream's numbers for a period, `?period=7d` or `?from=...&to=...`; for HTMX only the report",
    "dashboard-table": "The same as a CSV file: one row per hour or day",
    "dashboard-parquet": "The same rows as a Parquet file, with types",
    "dashboard-pdf": "The same period's report as a PDF of one to three pages",
    "dashboard-changes": "The changes of its headline numbers as a CSV file, with their intervals",
    "dashboard-changes-parquet": "The same rows as a Parquet file, with types",
    "dashboard-breakdowns": "Its section on who came and how long, `?filter=gender:female,age:25-34`; for HTMX a part",
    "dashboard-live": "Server-sent events for an open dashboard: who is in view, and when newer numbers are available",
    "stream-new": "Create a stream; the response shows its Password, once",
    "stream": "A stream: how to connect it, its state, camera, usage, credentials; for a viewer state, camera, usage",
    "stream-settings": "Name, on or off, switches, retention, time zone, e-mails about silence and blind cameras",
    "camera-check": "Count people yourself and compare with the camera's own count; for owners and managers",
    "camera-check-begin": "POST: a check begins now; its number",
    "camera-check-end": "POST: what was counted, and for how many seconds; may be sent again",
    "stream-try": "Try a stream out with the browser's camera or a video file; for owners and managers",
    "stream-try-token": "POST: an access token for that page, for 15 minutes; what is sent with it is not stored",
    "notices": "Documents that the law asks for, written from a stream's settings: list, public page, version history",
    "notices-details": "What these documents need and the product can't know: controller, contact, purpose, basis",
    "notices-public": "POST: switch the public page of a stream on or off",
    "notices-sign": "A notice to print, `?size=a4` or `a6`, `?language=en`, `fr`, `de`, `es`; `?version=`: earlier",
    "notices-record": "The record of processing activities (art. 30 GDPR); `?version=` shows an earlier one",
    "notices-assessment": "A draft of an impact assessment (art. 35 GDPR); `?version=` shows an earlier one",
    "notices-models": "A conformity sheet for each model that the stream computes with; `?version=` as before",
    "stream-link-new": "Create a shared link to a stream's numbers; the response shows its address, once",
    "shared-links": "The shared links of an organisation: what they show, last use, end; for owners and managers",
    "shared-link-new": "Create a shared link to numbers of a site, a tag or all streams: `?site=`, `?tag=`",
    "shared-link-revoke": "POST: revoke a shared link",
    "shared": "What a shared link shows, open to everyone who has its address; 410 once it has ended",
    "stream-report-new": "Plan a mailed report on a stream",
    "mailed-reports": "The mailed reports of an organisation, when they are sent and to whom; for owners and managers",
    "mailed-report-new": "Plan a mailed report on a site, a tag or all streams: `?site=`, `?tag=`",
    "mailed-reports-outside": "POST: allow reports to addresses that are no member's, or no longer; for owners",
    "mailed-report": "Change a mailed report and its recipients",
    "mailed-report-remove": "POST: delete a mailed report",
    "unsubscribe": "Where an address outside unsubscribes from a report: a page, and with POST at once (RFC 8058)",
    "notice": "The public page behind a notice's QR code, open to everyone who has its address; 404 while it is off",
    "stream-rotate": "A new Password; the old one stays valid for a grace period",
    "stream-remove": "Remove a stream; asks for its name",
    "stream-audit": "A stream's audit log, for owners and managers; `check` verifies its chain",
    "stream-audit-file": "The same as a file: JSON lines, or CSV with `form=csv`",
    "stream-erase": "Erase the visits of a range; says what goes before it does it",
    "organisations": "The organisations that the account is in; with one alone, redirects to it",
    "organisation": "An organisation: its members, invitations and sites; for analysts and viewers their own part",
    "organisation-settings": "Its name, and whether members need a second factor; for owners",
    "organisation-remove": "Delete an organisation with all its streams; asks for its name; for owners",
    "organisation-leave": "Leave an organisation; the last owner can't",
    "organisation-audit": "An organisation's audit log, for owners and managers; `check` verifies its chain",
    "organisation-audit-file": "The same as a file: JSON lines, or CSV with `form=csv`",
    "member": "Change a member's role or sites; managers those of analysts and viewers",
    "member-remove": "POST: remove a member",
    "organisation-keys": "The keys of an organisation: scopes, reach, last use, end; for owners and managers",
    "key-new": "Create a key; the response shows it, once",
    "key-revoke": "Revoke a key; asks first",
    "site-new": "Create a site, and say which streams stand there",
    "site": "Change a site",
    "site-remove": "POST: delete a site; its streams stay",
    "member-invite": "Invite up to 50 addresses with a role; asks for confirmation before it sends e-mails",
    "invitation-revoke": "Revoke an invitation",
    "invitation": "The target of an invitation's link: accept or decline",
    "token": "A token for a stream's credentials; JSON, with and without the trailing slash",
    "token-without-slash": "The same",
    "jwks": "The public keys that verify tokens; JSON",
    "openapi": "The JSON routes of the console, as an OpenAPI document",
    "api-reference": "The [management interface](../guides/api.md), as a page",
    "api-openapi": "The same as an OpenAPI document",
    "api-...": "[Its operations](api.md), for programs with a key; JSON. The route in log lines is `api-` and the path",
    "devices": "The devices of the organisations that the account manages, open codes and templates; `?site=`, "
    "`?search=`, `?condition=`, `?configuration=`, `?version=`, `?revoked=1`",
    "devices-fleet": "How many devices have which condition, state of the configuration and agent; `?site=`",
    "devices-change": "Change the settings of many devices: those with `?device=`, or all that a list with `?found=1` "
    "finds; shows a preview first",
    "device": "A device: facts, what is wrong and what to do, a day of its health, its settings and their versions",
    "device-settings": "Change a device's own settings",
    "device-again": "POST: offer a device its newest settings again, after it refused them or went back",
    "device-template": "Change the settings of the devices that have a template",
    "site-devices": "Change the settings of the devices at a site",
    "device-code-new": "Create an enrolment code; the response shows it, once",
    "device-code-end": "POST: end a code; devices that enrolled with it go on",
    "device-template-new": "Create a template: the settings that the stream of a new device starts with",
    "device-template-remove": "POST: remove a template; its codes end",
    "device-revoke": "Revoke a device; asks first",
    "device-replace": "Create a code for the device that takes over a stream; shown once",
    "device-enrol": "POST: a device enrols with a code and a key that it made; JSON",
    "device-credential": "POST: a device asks for a new credential with its key; JSON",
    "device-configuration": "What a device is to be set to, for its key, with an ETag; JSON",
    "device-health": "POST: a device reports once a minute how it is, and what it made of its configuration; JSON",
    "stream-note-new": "Write a note about a stream, its site or its organisation; for owners, managers and analysts",
    "site-note-new": "Write a note about a site or its organisation",
    "notes": "An organisation's notes, the latest days first; `?page=`",
    "note-new": "Write a note about an organisation's streams",
    "note": "Change a note",
    "note-remove": "POST: remove a note",
    "webhooks": "An organisation's webhooks; for owners and managers",
    "webhook-new": "Create a webhook; the response shows its signing secret, once",
    "webhook": "A webhook: its settings, and what was delivered to it; `?before=`",
    "webhook-test": "POST: send a test event",
    "webhook-secret": "POST: replace the signing secret; the response shows the new one, once",
    "webhook-switch": "POST: enable or disable a webhook",
    "webhook-remove": "POST: delete a webhook with what waits for it",
    "webhook-replay": "POST: send a delivery again",
    "billing": "Card, subscriptions and invoices; all routes below `/billing/` exist only with Stripe's keys",
    "billing-card": "Redirects to Stripe's page to change the card",
    "billing-done": "Where Stripe's page redirects back to",
    "billing-webhook": "Receives Stripe's signed events; JSON",
    "billing-upgrade": "Make a stream an enterprise stream",
    "billing-cancel": "Cancel a stream's subscription",
    "sign-in": "The sign-in page of an organisation with a provider of its own; a POST leads to the provider",
    "sign-in-return": "Where the provider leads back to",
    "organisation-sign-in": "An organisation's provider: issuer, client, roles by group; for owners",
    "second-factor-required": "Where members are led whose organisation requires a second factor",
    "sign-in-closed": "In place of pages that a sign-in with a provider can't use",
    "account": "The user's own account",
    "account-language": "POST: the language of the user's pages and mails; empty for the browser's",
    "account-delete": "Delete the account, and the organisations that it alone owns; asks for its address",
    "usersessions_list": "Where the user is signed in",
    "session-end": "End one of these sessions",
    "account-events": "What changed about how the user signs in: passkeys, second factor, password, address",
    "account_email": "Change the e-mail address",
    "account_login": "Sign in",
    "account_logout": "Sign out",
    "account_inactive": "Shown for a disabled account",
    "account_signup": "Sign up, if that is open",
    "account_reauthenticate": "Confirm the user's identity again, with the password",
    "account_email_verification_sent": "Shown after a verification e-mail was sent",
    "account_confirm_email": "The target of the link in a verification e-mail",
    "account_change_password": "Change the password",
    "account_set_password": "Redirects to the change of password; for accounts that have none yet",
    "account_reset_password": "Forgot your password? Sends a link",
    "account_reset_password_done": "Shown after that e-mail was sent",
    "account_reset_password_from_key": "The target of that link: choose a new password",
    "account_reset_password_from_key_done": "Shown after the password was set",
    "account_confirm_login_code": "Not used: sign-in codes by e-mail are not offered",
    "mfa_index": "The second factor: passkeys, authenticator app, recovery codes",
    "mfa_authenticate": "Asks for a passkey or a code when signing in",
    "mfa_list_webauthn": "The user's passkeys",
    "mfa_add_webauthn": "Add a passkey",
    "mfa_edit_webauthn": "Rename a passkey",
    "mfa_remove_webauthn": "Remove a passkey",
    "mfa_login_webauthn": "Sign in with a passkey; a GET that accepts JSON returns what the browser needs for it",
    "mfa_reauthenticate_webauthn": "Confirm the user's identity again, with a passkey",
    "mfa_reauthenticate": "Confirm the user's identity again, with a code",
    "mfa_activate_totp": "Set up the second factor",
    "mfa_deactivate_totp": "Remove it",
    "mfa_view_recovery_codes": "How many recovery codes are left",
    "mfa_generate_recovery_codes": "Generate new recovery codes",
    "mfa_download_recovery_codes": "The recovery codes as a file",
    "admin:...": "The staff pages: accounts, streams, usage, members, invitations, jobs. 404 for other accounts",
    "documentation": "The documentation's site, open to everyone; 404 with the command that builds it if this server "
    "has none",
    "documentation-page": "A page or file of that site",
    "agent-script": "The script that installs the agent on a device; 404 with the remedy if this server has no package "
    "of the agent",
    "agent-requirements": "Versions and checksums of the agent's dependencies, for pip",
    "agent-device-script": "The same script for a device that computes: it installs the pipeline and the models too",
    "agent-device-requirements": "Versions and checksums of the dependencies of a device that computes",
    "agent-index": "The package index that the script installs from (PEP 503); its files are at `/agent/packages/`",
    "agent-project": "The files of one package, each with its sha256",
    "words": "The sentences of scripts, in that language",
    "authority": "The certificate that devices must trust; 404 if `ONLOOKER_AUTHORITY_FILE` is not set",
    "live": "Whether the process runs; JSON",
    "ready": "Whether it can serve; JSON",
}
