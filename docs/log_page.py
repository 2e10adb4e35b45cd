"""The reference of the log: the fields of its lines, and the events of the server's source."""

from pathlib import Path

from client_page import Table
from explanations import Undocumented
from log_events import LogCalls

OF_EVERY_LINE = {
    "time": ("string", "When, in UTC: RFC 3339 with milliseconds."),
    "level": ("string", "`debug`, `info`, `warning`, `error` or `critical`. `ONLOOKER_LOG_LEVEL` is the lowest shown."),
    "process": ("string", "Which process: `up`, `bus`, `gateway`, `gateway-2`, `dispatcher`, `recorder`, `console`, "
                "`data`, or a worker's name."),
    "logger": ("string", "The module that logs. `onlooker...` is ours; others are libraries."),
    "event": ("string", "What happened: a text of the table below that stays the same, so that you can filter by it. "
              "Of libraries, any text."),
}  # fmt: skip
FIELDS = {
    "account": ("integer", "Number of an account."),
    "action": ("string", "What was changed in the sign-in settings of an organisation."),
    "address": ("string", "The network address whose connection, token request or enrolment was refused."),
    "bucket": ("string", "A bucket of the bus, as in `onlooker_bucket_filled`."),
    "calls": ("integer", "Calls in progress."),
    "child": ("string", "A process that `onlooker up` started."),
    "chore": ("string", "A chore of the console."),
    "code": ("string or integer or null", "The code of a [problem](errors.md), null where there is none; of a process, "
             "its exit code or minus a signal."),
    "count": ("integer", "How many things a chore did."),
    "customer": ("string or integer", "A customer of billing: our number, or Stripe's id."),
    "definitions": ("string", "Which definitions of metrics fill the roll-up."),
    "detail": ("string", "What was wrong with a provider's answer."),
    "device": ("integer", "Number of a device."),
    "dropped": ("integer", "How many events for a webhook were dropped."),
    "error": ("string", "What a library, the database or the bus said, or the kind of its exception."),
    "exception": ("string", "A traceback, with line breaks."),
    "filled": ("number", "Share of a bucket's disk that is used, 0 to 1."),
    "instance": ("string", "One run of a worker."),
    "job": ("string", "The id of a job."),
    "key": ("integer", "Number of an organisation's key."),
    "kid": ("string", "The id of a signing key."),
    "kind": ("string", "A kind of e-mail, or of a stream."),
    "lag_s": ("number", "By how much the standby lags."),
    "length": ("integer", "Bytes of a body."),
    "limit_s": ("number", "By how much the standby may lag."),
    "mail": ("string", "Which e-mail: the name of its template."),
    "messages": ("integer", "Messages with visits that wait."),
    "meter": ("string", "What is counted and not yet written."),
    "method": ("string", "The method of a request."),
    "ms": ("number", "How long a request took, in milliseconds."),
    "offset_s": ("number", "How far a clock is ahead; negative: behind."),
    "organisation": ("integer", "Number of an organisation."),
    "partition": ("string", "A partition of the table of visits."),
    "price": ("string", "The id of a price at Stripe."),
    "provider": ("integer", "Number of an organisation's provider."),
    "raise_setting": ("string", "The setting to raise."),
    "reason": ("string", "Why: a word, or a sentence with the remedy."),
    "remedy": ("string", "What to do."),
    "replicas": ("integer", "Copies that the bus keeps."),
    "report": ("integer", "Number of a mailed report."),
    "request_id": ("string", "The id of a request, which the client may choose with `X-Request-Id`. It goes with a job "
                   "through gateway, bus and worker: one filter shows all lines about it."),
    "role": ("string", "A member's role."),
    "route": ("string", "A name from [routes.md](routes.md), or `none`. Never the URL: links may be secrets."),
    "seconds": ("number", "How long a chore took."),
    "senior_age": ("number", "From which age people count as seniors."),
    "service": ("string", "A service."),
    "services": ("array", "The services that a worker hosts."),
    "session": ("string", "The key of a session on the bus."),
    "setting": ("string", "A setting that matters here."),
    "short_s": ("integer", "By how many seconds records vanish early."),
    "status": ("integer or string", "The status of a response, of an answer of the bus, or of a subscription."),
    "stream": ("integer or string or null", "Number of a stream, null before it is known; of the bus, its name."),
    "subscription": ("string", "The id of a subscription at Stripe."),
    "url": ("string", "Where a process serves, or what it connects to."),
    "webhook": ("integer", "Number of a webhook. Never its URL, which may contain a secret."),
    "what": ("string", "What could not be written."),
    "worker": ("string", "The name of a worker."),
}  # fmt: skip
"""Type and meaning of each field that only some lines have."""


def log_page(source: Path, table: Table) -> str:
    events = LogCalls(source).events()
    used = {name for event in events for name in event.fields}
    if missing := sorted(used - set(FIELDS)):
        raise Undocumented(
            f"Fields of the log not explained: {', '.join(missing)}. Add a line to FIELDS of log_page.py."
        )
    if stale := sorted(set(FIELDS) - used):
        raise Undocumented(f"Fields of the log no longer in the source: {', '.join(stale)}. Remove them from FIELDS.")
    common: list[list[object]] = [[f"`{name}`", *texts] for name, texts in OF_EVERY_LINE.items()]
    others: list[list[object]] = [[f"`{name}`", *texts] for name, texts in FIELDS.items()]
    rows: list[list[object]] = [
        [event.event, " or ".join(event.levels), ", ".join(f"`{name}`" for name in event.fields), f"`{event.module}`"]
        for event in events
    ]
    return (
        "# Logs\n\nEvery process writes its log to standard error: one JSON object a line, with named values only. "
        "`onlooker up` passes on the lines of all its processes. Lines about requests name routes, never URLs; "
        "no line has a picture, a password or a token. What to watch: [monitoring](../guides/monitoring.md#logs).\n\n"
        "## Fields of every line\n\n"
        + table(["field", "type", "meaning"], common)
        + "\n## Fields of some lines\n\n"
        + table(["field", "type", "meaning"], others)
        + "\n## Events\n\nAs the source has them. An event may lack a field that does not apply. A line of `request` "
        "is at level `debug` where the request was answered as usual, and its logger is the process's own.\n\n"
        + table(["event", "level", "fields", "logger"], rows)
    )
