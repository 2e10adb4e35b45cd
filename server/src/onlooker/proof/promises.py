"""The promises of PRIVACY.md and docs/concepts/privacy.md: one for each row of their tables."""

from dataclasses import dataclass

PRIVACY = "PRIVACY.md"
CONCEPT = "docs/concepts/privacy.md"


@dataclass(frozen=True)
class Promise:
    """A row of a document, known by its first words."""

    id: str
    document: str
    row: str
    """What the row's first cell begins with, without links."""


_KEPT = (
    ("kept-agent-frame", "a frame on the device"),
    ("kept-local-feed", "with the agent's `--feed-port` option"),
    ("kept-saved-video", "with the agent's `--save` option"),
    ("kept-device-journal", "where the device computes: visits"),
    ("kept-sync-frame", "a frame in a synchronous job"),
    ("kept-previous-frame", "the previous frame of a `motion_detection`"),
    ("kept-async-frame", "a frame in an async job"),
    ("kept-blob", "a blob"),
    ("kept-session-results", "results of calls in a session"),
    ("kept-other-results", "other results"),
    ("kept-session-states", "session states"),
    ("kept-visits", "visits, of frames sent with `store`"),
    ("kept-slot-totals", "the totals of visits per 15 minutes"),
    ("kept-device-coverage", "what a device that computes by itself told"),
    ("kept-device-health", "what an enrolled device reports of itself"),
    ("kept-put-aside", "visits that could not be written"),
    ("kept-erased-ranges", "a range of visits that its owner has erased"),
    ("kept-trial-frames", "frames of the page Try it"),
    ("kept-coverage", "coverage: seconds of video"),
    ("kept-logs", "logs: ids, times, status codes"),
    ("kept-hours-and-place", "opening hours and when they held"),
    ("kept-streams-and-usage", "streams and their monthly usage"),
)
_SIGNED_IN = (
    ("account-address-and-password", "e-mail address, password (hashed)"),
    ("account-second-factor", "second factor and recovery codes"),
    ("account-security-events", "security events of an account"),
    ("account-provider-identity", "with an organisation's provider"),
    ("account-session", "a session: the client's address"),
    ("account-sign-in-attempts", "sign-in attempts"),
    ("account-token-requests", "failed token requests"),
    ("account-invitation", "an invitation"),
    ("account-membership", "a membership"),
    ("account-key", "a key of an organisation"),
    ("account-idempotent-request", "the answer to a request of a program"),
    ("account-audit-log", "the audit log of a stream"),
    ("account-notes", "notes on days: free text"),
    ("account-shared-link", "a shared link"),
    ("account-mailed-report", "a mailed report"),
    ("account-notices", "what an owner enters for notices"),
    ("account-stripe-ids", "with billing: Stripe's ids"),
    ("account-stripe-record", "with billing: e-mail address, card, invoices"),
    ("account-e-mails", "e-mails"),
    ("account-logs", "logs, including those of the data endpoint"),
)
_BY_CONSTRUCTION = (
    ("frames-only-in-memory", "Frames are only in memory."),
    ("two-short-exceptions", "There are two exceptions, both short."),
    ("device-keeps-no-frames", "A device keeps no frames."),
    ("sending-device-knows-nothing", "A device that only sends knows nothing about people."),
    ("device-reveals-no-password", "A device reveals no password."),
    ("frames-over-https", "Frames travel over HTTPS."),
    ("no-frame-in-log", "No frame is in a log."),
    ("no-frame-in-core-dump", "No frame is in a core dump."),
    ("no-frame-in-result", "No frame is in a result."),
    ("one-picture-in-memory", "One picture stays a little longer, in memory."),
    ("states-only-numbers", "Session states contain only numbers."),
    ("states-leave-the-disk", "Session states leave the disk in time."),
    ("visits-times-and-estimates", "Visits contain times and estimates."),
    ("visit-leads-to-no-recording", "By its id, a visit leads back to no recording of results"),
    ("range-can-be-erased", "A range of visits can be erased."),
    ("changes-and-reads-are-known", "Who changed or read something is known."),
    ("switched-off-not-computed", "Values that a stream switched off are not computed."),
    ("counts-only-no-face", "A stream that only counts looks for no face."),
    ("closed-computes-nothing", "Outside its opening hours a stream computes nothing."),
    ("visits-deleted-on-time", "Visits are deleted on time."),
    ("only-totals-stay", "After that, only totals stay."),
    ("groups-only", "A stream can tell about groups only."),
    ("only-numbers-published", "Only numbers are published, not visits."),
    ("worker-knows-no-secrets", "A worker knows no secrets except its own."),
    ("trial-leaves-nothing", "Trying a stream out leaves nothing behind."),
    ("strangers-look-up-nothing", "Strangers can't look things up."),
    ("credentials-not-in-plain-text", "Credentials are not stored in plain text."),
    ("token-for-one-stream", "A token gives access to one stream."),
    ("data-endpoint-sees-no-frames", "The data endpoint sees no frames."),
    ("console-sees-no-frames", "The console sees no frames."),
    ("little-known-of-holders", "Little is known about account holders."),
    ("removed-means-removed", "Removed means removed."),
    ("dependencies-send-nothing", "Dependencies send no data either."),
    ("pages-contact-nobody", "Pages contact no one else."),
    ("nobody-is-identified", "Nobody is identified."),
    ("models-learn-nothing", "The models learn nothing."),
)

PROMISES: tuple[Promise, ...] = (
    *(Promise(name, PRIVACY, row) for name, row in (*_KEPT, *_SIGNED_IN)),
    *(Promise(name, CONCEPT, row) for name, row in _BY_CONSTRUCTION),
)
