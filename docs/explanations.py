"""What docs/generate.py can't read from the source: meanings of codes, metrics and routes."""

PROBLEMS = {
    "missing_token": ("No `Authorization: Bearer` header.", "Get a token from the token endpoint, and send it."),
    "invalid_jwt": (
        "The token is not ours, was changed, or its credential, stream, membership or account ended.",
        "Ask the token endpoint for a new one.",
    ),
    "expired_jwt": ("The token is older than 5 hours.", "Ask the token endpoint for a new one."),
    "bad_credentials": (
        "No credentials, an unknown `client_id`, or a wrong `access_token`. At the token endpoint also a wrong "
        "`username`: which of them is wrong is not said.",
        "Check all of them. An `access_token` that was rotated ends after its grace time.",
    ),
    "quota_exceeded": (
        "A developer stream has used up its month of computed video. `resets_at` says when the next month begins.",
        "Wait, or make it an enterprise stream.",
    ),
    "stream_disabled": (
        "The stream or its owner's account is disabled.",
        "Enable the stream in its settings in the console, or with `onlooker stream set CLIENT_ID --enabled`. Staff "
        "enables accounts.",
    ),
    "not_found": (
        "There is no such service, version, job, blob, session or feed, it is past its retention, "
        "or it belongs to another stream. Also what a trial token does not open.",
        "Check the URL. Follow the URLs that answers carry.",
    ),
    "method_not_allowed": ("The resource has no such method.", "The `Allow` header lists the methods."),
    "request_timeout": ("The body took too long to arrive, or a feed's input was idle for too long.", "Send again."),
    "too_large": (
        "A body (10 MiB), its JSON (1 MiB), a part or the media of one job is over the size limit, or the stream keeps "
        "too many bytes of blobs.",
        "Send less, or delete blobs.",
    ),
    "unsupported_media_type": (
        "The body is neither `application/json` nor `multipart/form-data`, or it has a `Content-Encoding`. The token "
        "endpoint takes the first only.",
        "Set `Content-Type`, and send the body uncompressed.",
    ),
    "bad_request": (
        "Malformed JSON or multipart, a missing or wrong field, a missing attachment, a foreign URL. At the data "
        "endpoint: a missing, wrong or doubled parameter, a range that is none, a page past the last.",
        "`detail` names the field or parameter and the remedy. Sending the same again does not help.",
    ),
    "rate_limited": (
        "One stream sends too many requests a second. At the token endpoint: too many failures in the last minute.",
        "Wait `Retry-After` seconds, then go on.",
    ),
    "overloaded": (
        "No live worker hosts the service, all places are taken, too many requests of a session or accepted jobs "
        "of the stream wait, or a part of the server is away; also when the bus does not take the visits of a frame. "
        "At the data endpoint: a query took longer than `ONLOOKER_DATA_TIME_LIMIT_S`, or too many are under way.",
        "Wait `Retry-After` seconds, then send again. If it lasts, add workers; at the data endpoint, ask for less.",
    ),
    "internal_error": (
        "A fault of the server.",
        "Look up the answer's `X-Request-Id` in the server's log, and report it.",
    ),
}

JOB_ERRORS = {
    "bad_image": (
        "The image is neither JPEG nor PNG, or is damaged, cut off or has more than 30 scans.",
        "Send a whole JPEG or PNG file.",
    ),
    "image_too_large": (
        "The image's header promises more than 20 megapixels, or a side of more than 1,000,000 pixels.",
        "Send a smaller one.",
    ),
    "bad_timestamp": (
        "With `store` true: the timestamp is more than 5 minutes ahead of the server's clock, or older than the "
        "stream's retention. With or without it: the timestamp is of 1970 or before.",
        "Set the clock of the device, or send with `store` false.",
    ),
    "bad_baseline": (
        "The microphones are said to be less than 0.01 or more than 5 metres apart.",
        "Give their distance in metres as `baseline`.",
    ),
    "bad_sound": (
        "The sound is no whole WAV file with PCM of 16 bits, 48 kHz and two channels.",
        "Send such a file; `error` says what this one is.",
    ),
    "time_limit": ("The job did not end within its time limit.", "Send a smaller input, or add workers."),
    "worker_died": ("Two workers died while they computed this job.", "Try another input, and report this one."),
    "result_too_large": ("The result is larger than 1 MiB.", "Send a simpler input."),
    "internal_error": ("The service failed on this input. It is a fault of ours.", "See the server's log; report it."),
    "service_gone": (
        "The service was taken out of the catalogue after the job was accepted.",
        "Use another version.",
    ),
    "attachment_gone": ("An attachment vanished from the blob store before the job was computed.", "Send it again."),
}

METRICS = {
    "onlooker_requests": "Answered requests. `route` is a name of [routes.md](routes.md), or `none` where a request "
    "was refused before that; status 499: the client left.",
    "onlooker_request_seconds": "Time from the first byte of a request to the end of its answer.",
    "onlooker_refusals": "Requests answered with a problem. `code` is one of [errors.md](errors.md).",
    "onlooker_jobs": "Jobs. `state` is `computed` or `failed` for synchronous jobs and frames of feeds, `accepted` and "
    "later `finished` for async ones. `reason` is the `error_code`, empty when all went well.",
    "onlooker_job_queue_seconds": "Time from sending a job to a worker until the worker begins with it.",
    "onlooker_job_compute_seconds": "Time a worker computed on a job.",
    "onlooker_job_resends": "Jobs sent once more. `reason`: `worker_died`, `worker_left` (it stopped), `bus_lost`.",
    "onlooker_results_not_stored": "Results that were answered but could not be kept. A later GET of them is 404.",
    "onlooker_live_workers": "Workers that answered this process on the bus in the last seconds.",
    "onlooker_swept": "What was removed after its time. `kind`: `result`, `blob`, `orphan` (attachment without job), "
    "`coverage` (slots older than the stream's retention).",
    "onlooker_worker_jobs": "Tasks a worker got. `outcome`: `done`, an `error_code`, `refused` (queue full), `expired` "
    "(nobody waits any more), `undecodable`, or `unanswered` (the bus went away).",
    "onlooker_worker_queue_seconds": "The same waiting time as above, seen by the worker.",
    "onlooker_worker_compute_seconds": "The same computing time as above, seen by the worker.",
    "onlooker_worker_session_loads": "Session states read from the bus. `reason`: `unknown` (first seen here), "
    "`conflict` (another worker wrote since), `unreadable` (another release wrote it).",
    "onlooker_worker_visits": "Visits a worker left with the bus for a recorder. `outcome`: `published`, or `refused` "
    "(the bus did not take it; the job is not answered before it does).",
    "onlooker_frames_skipped": "Frames that were answered without looking at them. `reason`: `out_of_order` (older "
    "than the session's last one).",
    "onlooker_recorder_visits": "Visits a recorder was given. `outcome`: `written`, `known` (the same or a higher "
    "revision was there), `stream_gone` (dropped: its stream was removed).",
    "onlooker_recorder_refused": "Tries to write a visit that failed because of the visit. `reason`: `refused` (by the "
    "database), `out_of_range` (in a month that no stream keeps, or too far ahead).",
    "onlooker_recorder_put_aside": "What was given up and kept in the table `visits_putaside`. `reason`: as above, or "
    "`undecodable` (no visit at all).",
    "onlooker_recorder_batch_seconds": "Time to write one batch of visits.",
    "onlooker_recorder_waiting": "Messages with visits on the bus that no recorder has finished.",
    "onlooker_recorder_sessions_closed": "Sessions whose visits a recorder ended. `how`: `deleted` (by the client), "
    "`silent`, `state_gone` (nothing more was known of it).",
    "onlooker_recorder_removed": "What was removed after its time. `kind`: `visit`, `partition`, `put_aside`.",
    "onlooker_metrics_slots_filled": "Slots of 15 minutes whose roll-up a recorder filled.",
    "onlooker_metrics_slots_marked": "Slots whose visits changed since, which wait to be filled. Numbers are right all "
    "the same: queries read the visits of such slots one by one, which is slower.",
    "onlooker_data_requests": "Answered requests of a data endpoint. `route` is a name of "
    "[routes.md](routes.md#routes-of-the-data-endpoint), or `none` where a request was refused before that; "
    "status 499: the client left.",
    "onlooker_data_request_seconds": "Time from the first byte of such a request to the end of its answer.",
    "onlooker_data_refusals": "Such requests that were answered with a problem, and tables that were broken off. "
    "`code` is one of [errors.md](errors.md).",
    "onlooker_data_query_seconds": "Time to ask the database for one page of numbers; a table is many of them. `time` "
    "is how the range is cut: `global`, `by_hour`, `by_day`.",
    "onlooker_console_requests": "Requests that reached the console's pages. `route` is a name of "
    "[routes.md](routes.md#routes-of-the-console), `admin:...` for the staff's pages, or `none` where no page has the "
    "address. Static files are not counted, nor what was refused for its size or for lack of room.",
    "onlooker_console_request_seconds": "Time to answer such a request, once its body is there.",
    "onlooker_console_live": "Dashboards that this console keeps live at this moment: each is one open request.",
    "onlooker_console_live_refused": "Dashboards that could not be kept live, and ask again. `reason`: `full` "
    "(`ONLOOKER_CONSOLE_LIVE_LIMIT`), `account_full` (`ONLOOKER_CONSOLE_LIVE_LIMIT_PER_ACCOUNT`).",
    "onlooker_console_chores": "Chores by name. `outcome`: `done`, `put_off` (the database, the mail server or another "
    "part was away), `failed` (a fault of ours: the log has the exception). Only one console does chores.",
    "onlooker_console_mails": "Mails about silent streams (`kind`: `silent`, `quota`, `back`) and invitations "
    "(`invitation`). `outcome`: `sent`, `failed`. Mails of accounts and billing are not counted.",
}

DATA_ROUTES = {
    "show_entities": "Metrics of the token's stream over a range, in buckets; a page has 50, and names the next",
    "show_table": "The same as one table for a spreadsheet: every bucket of the range a row, every figure a column",
    "show_openapi": "This interface, as an OpenAPI document with an example",
    "show_live": "Whether the process runs",
    "show_ready": "Whether it can serve: it reaches the database",
}

CONSOLE_ROUTES = {
    "home": "Leads to the streams",
    "streams": "The overview: the account's streams and those that others share with it, with their numbers of 7 days",
    "dashboard": "A stream's numbers of a period, `?period=7d` or `?from=...&to=...`; for HTMX the report alone",
    "dashboard-table": "The same as a CSV file: an hour or a day a row",
    "dashboard-live": "Server-sent events for an open dashboard: who is in view, and when newer numbers can be fetched",
    "stream-new": "Make a stream; the answer shows its Password, once",
    "stream": "A stream: its state, use, credentials, how to connect; for a viewer its state and use",
    "stream-connection": "Part of that page: whether the first frame has come",
    "stream-settings": "Name, on or off, switches, retention, time zone, silence mails",
    "stream-try": "Try a stream out with the browser's camera or a video file; for its owner",
    "stream-try-token": "POST: an access token for that page, for 15 minutes; what is sent with it is not stored",
    "stream-rotate": "A new Password; the old one works on for a grace time",
    "stream-remove": "Remove a stream; asks for its name",
    "members": "Who sees a stream, and who is invited",
    "member-invite": "Invite an address; asks before it sends the mail",
    "member-leave": "A viewer leaves a stream",
    "member-revoke": "End a viewer's membership",
    "invitation-revoke": "Take an invitation back",
    "invitation": "Where an invitation's link leads: accept or decline",
    "token": "A token for a stream's credentials; JSON, with and without the trailing slash",
    "token-without-slash": "The same.",
    "jwks": "The public keys that verify tokens; JSON",
    "openapi": "The JSON routes of the console, as an OpenAPI document",
    "billing": "Card, subscriptions and invoices; this and the others below `/billing/` only with Stripe's keys",
    "billing-card": "Lead to Stripe's page to change the card",
    "billing-done": "Where Stripe's page leads back to",
    "billing-webhook": "Where Stripe tells of events, signed; JSON",
    "billing-upgrade": "Make a stream an enterprise stream",
    "billing-cancel": "Cancel a stream's subscription",
    "account": "One's own account",
    "account-delete": "Delete one's account with all its streams; asks for its address",
    "usersessions_list": "Where one is signed in",
    "session-end": "End one of these sessions",
    "account_email": "Change one's e-mail address",
    "account_login": "Sign in",
    "account_logout": "Sign out",
    "account_inactive": "Says that an account is disabled",
    "account_signup": "Sign up, where that is open",
    "account_reauthenticate": "Show again who one is, with the password",
    "account_email_verification_sent": "Says that a mail is on its way",
    "account_confirm_email": "Where the link of a verification mail leads",
    "account_change_password": "Change one's password",
    "account_set_password": "Leads to changing it; for accounts that have none yet",
    "account_reset_password": "Forgot your password? Sends a link",
    "account_reset_password_done": "Says that a mail is on its way",
    "account_reset_password_from_key": "Where that link leads: choose a new password",
    "account_reset_password_from_key_done": "Says that the password is set",
    "account_confirm_login_code": "Not used: codes by mail are not offered",
    "mfa_index": "The second factor: on or off",
    "mfa_authenticate": "Asks for a code when signing in",
    "mfa_reauthenticate": "Show again who one is, with a code",
    "mfa_activate_totp": "Set up the second factor",
    "mfa_deactivate_totp": "Remove it",
    "mfa_view_recovery_codes": "How many recovery codes are left",
    "mfa_generate_recovery_codes": "Make new recovery codes",
    "mfa_download_recovery_codes": "The recovery codes as a file",
    "admin:...": "The staff's pages: accounts, streams, use, members, invitations, jobs. 404 for other accounts",
    "authority": "The certificate that devices must trust; 404 where `ONLOOKER_AUTHORITY_FILE` is not set",
    "live": "Whether the process runs; JSON",
    "ready": "Whether it can serve; JSON",
}
