"""One frozen settings object, read once from `ONLOOKER_*` variables."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import msgspec
from msgspec import Meta

PREFIX = "ONLOOKER_"
OF_THE_CLIENT = frozenset(
    PREFIX + name
    for name in (
        *("URL", "CLIENT_ID", "ACCESS_TOKEN", "ACCESS_TOKEN_FILE", "CA_FILE", "DEVICE_KEY", "USERNAME", "SOURCE"),
        *("CONFIG", "KEY", "KEY_FILE", "TRIAL_S"),
    )
)
"""Settings of the device client, which may share a shell with the server; both have console_url and data_url."""


class SettingsError(Exception):
    """A setting is unknown or has a wrong value; the message names it and the remedy."""


def _about(description: str, *, secret: bool = False, **bounds: Any) -> Meta:
    return Meta(description=description, extra={"secret": secret}, **bounds)


Seconds = float


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every setting of every process, with its default."""

    home: Annotated[str, _about("Folder for keys, certificates, the bus's files and local blobs.")] = (
        "~/.local/share/onlooker"
    )
    log_level: Annotated[str, _about("debug, info, warning or error.", pattern="^(debug|info|warning|error)$")] = "info"

    database_url: Annotated[str, _about("PostgreSQL 15 or later, as a postgresql:// URL.", secret=True)] = (
        "postgresql:///onlooker"
    )
    database_role_prefix: Annotated[
        str,
        _about(
            "What the names of the processes' roles in the database begin with; empty: the database's name.",
            pattern="^[a-z0-9_]*$",
        ),
    ] = ""
    database_direct_url: Annotated[
        str,
        _about(
            "The same database without a pooler in between, for what needs a session of its own. Where it is set, "
            "`database_url` may lead to PgBouncer (1.18 or later) in transaction mode.",
            secret=True,
        ),
    ] = ""
    database_read_url: Annotated[
        str, _about("A standby from which numbers are read; empty: they are read from the primary.", secret=True)
    ] = ""
    database_read_lag_s: Annotated[
        Seconds, _about("How far a standby may lag before numbers are read from the primary.", ge=1, le=600)
    ] = 10
    database_pool_size: Annotated[
        int, _about("Connections that a pool may hold; the console has two pools, other processes one.", ge=1)
    ] = 8

    nats_url: Annotated[
        str,
        _about(
            "Address of the bus, or of several of its servers, separated by commas, the nearest first. `onlooker up` "
            "starts a bus at one address."
        ),
    ] = "nats://127.0.0.1:4322"
    nats_authority_file: Annotated[
        str, _about("Certificate (PEM) of the authority that the bus's servers are checked by; empty: no TLS.")
    ] = ""
    nats_certificate_file: Annotated[str, _about("Certificate (PEM) that this process shows to the bus.")] = ""
    nats_key_file: Annotated[str, _about("Its private key (PEM).")] = ""
    nats_user: Annotated[str, _about("The role this process has on the bus.")] = ""
    nats_password: Annotated[str, _about("Password of that role.", secret=True)] = ""
    nats_server: Annotated[str, _about("Path of the nats-server program; empty: the one installed with Onlooker.")] = ""
    nats_cores: Annotated[int, _about("Cores the bus's server uses; with one it costs a quarter less a job.", ge=1)] = 1
    bus_replicas: Annotated[
        int,
        _about("Servers of the bus that keep each message; where it is kept by more already, that stays.", ge=1, le=5),
    ] = 1
    bucket_shards: Annotated[int, _about("Buckets that session states and results are spread over.", ge=1, le=64)] = 1
    results_disk_bytes: Annotated[
        int, _about("Disk that stored results may fill, per bucket; oldest go first.", ge=1)
    ] = 2 * 1024**3
    state_compression: Annotated[
        str,
        _about(
            "Whether workers compress session states: on, or off while processes of a release without this setting "
            "read them too; empty: on under `onlooker up`, which starts all of one release, otherwise off.",
            pattern="^(on|off)?$",
        ),
    ] = ""
    visits_disk_bytes: Annotated[
        int, _about("Disk that visits may fill on the bus while they wait for a recorder.", ge=1024**2)
    ] = 2 * 1024**3
    visits_age_s: Annotated[Seconds, _about("How long a visit waits on the bus for a recorder.", ge=60)] = 7 * 86_400
    recorder_batch: Annotated[int, _about("Visits a recorder writes in one transaction.", ge=1, le=5000)] = 200

    public_url: Annotated[
        str,
        _about(
            "Scheme and host that clients see; every absolute URL in an answer starts with it.",
            pattern="^https?://[^/]+$",
        ),
    ] = "https://localhost:8443"
    https_host: Annotated[str, _about("Address that HTTPS listens on.")] = "0.0.0.0"  # noqa: S104
    https_port: Annotated[
        int, _about("Port that HTTPS listens on; 0: no HTTPS here, a proxy does it.", ge=0, le=65535)
    ] = 8443
    http_port: Annotated[int, _about("Port for plain HTTP, for a proxy in front; 0: none.", ge=0, le=65535)] = 8080
    http_host: Annotated[
        str, _about("Address that plain HTTP listens on; other than loopback only where nobody else reaches it.")
    ] = "127.0.0.1"
    tls_certificate_file: Annotated[str, _about("Certificate chain (PEM); empty: one from the local authority.")] = ""
    tls_key_file: Annotated[str, _about("Its private key (PEM).")] = ""
    trusted_proxies: Annotated[
        str, _about("Addresses, separated by commas, whose X-Forwarded-* headers are trusted.")
    ] = ""
    authority_file: Annotated[
        str,
        _about("Certificate (PEM) that devices must trust, offered for download; empty: not needed."),
    ] = ""
    clock_limit_s: Annotated[
        Seconds,
        _about("How far a machine's clock may be from the database's before its processes refuse to serve.", ge=0.5),
    ] = 5
    monitoring_port: Annotated[
        int,
        _about("Port of /livez, /readyz and /metrics; `onlooker up` counts up from it.", ge=0, le=65535),
    ] = 9100
    monitoring_host: Annotated[str, _about("Address that monitoring listens on; see also `monitoring_hosts`.")] = (
        "127.0.0.1"
    )
    monitoring_hosts: Annotated[
        str,
        _about("Host names, separated by commas, that monitoring answers to besides localhost and loopback addresses."),
    ] = ""

    traces_url: Annotated[
        str,
        _about(
            "Where traces of jobs are sent, with OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces; empty: no "
            "job is traced. Needs the packages of the extra `traces` (docs/guides/monitoring.md).",
            pattern=r"^$|^https?://[^/@\s]+/[^@\s]*$",
        ),
    ] = ""
    traces_ratio: Annotated[float, _about("Part of the jobs that are traced, 0 to 1.", ge=0, le=1)] = 0.1

    body_limit_bytes: Annotated[int, _about("Largest request body.", ge=1024)] = 10 * 1024**2
    gateways: Annotated[
        int,
        _about(
            "Gateway processes `onlooker up` starts, on the same ports; 0: one per four cores, 1 to 4.", ge=0, le=64
        ),
    ] = 0
    gateway_name: Annotated[str, _about("This gateway's name in logs.", pattern="^[a-z0-9-]+$")] = "gateway"
    body_memory_bytes: Annotated[
        int, _about("Bytes of request bodies a gateway process holds, over all requests.", ge=1024)
    ] = 512 * 1024**2
    body_time_limit_s: Annotated[Seconds, _about("Time that a request body may take to arrive.", gt=0)] = 60
    rate_limit_per_second: Annotated[
        float, _about("Requests a second for one stream, over all gateways of a machine.", gt=0)
    ] = 100
    rate_limit_burst: Annotated[int, _about("Requests a stream may send at once above that.", ge=1)] = 200
    stream_share: Annotated[
        float, _about("Part of a gateway's requests, bodies and jobs in progress that one stream may have.", gt=0, le=1)
    ] = 0.25
    address_share: Annotated[
        float,
        _about("Part of a gateway's requests, bodies and jobs in progress that one address may have.", gt=0, le=1),
    ] = 0.5
    connections_limit: Annotated[int, _about("Connections that a process of HTTP holds at once.", ge=10)] = 20_000
    connections_per_address: Annotated[
        int, _about("Connections from one address; trusted proxies may have more.", ge=1)
    ] = 1000
    new_sessions_per_second: Annotated[float, _about("Sessions a second that one stream may begin.", gt=0)] = 10
    new_sessions_burst: Annotated[int, _about("Sessions that a stream may begin at once above that.", ge=1)] = 200
    device_batches_per_second: Annotated[
        float, _about("Batches of visits a second that devices of one stream may send.", gt=0)
    ] = 1
    device_visits_per_second: Annotated[
        float, _about("Visits a second, on average, that devices of one stream may send.", gt=0)
    ] = 50
    body_bytes_per_second: Annotated[
        float, _about("Bytes of bodies a second that are read of one stream; more wait.", ge=65_536)
    ] = 16 * 1024**2
    result_bytes_per_second: Annotated[
        float, _about("Bytes of results a second that one stream may have, on average over a minute.", ge=1024)
    ] = 1024**2
    gateway_requests_limit: Annotated[int, _about("Requests in progress at a gateway before it refuses.", ge=1)] = 4096
    gateway_jobs_limit: Annotated[
        int, _about("Synchronous jobs in progress at a gateway process before it refuses.", ge=1)
    ] = 256
    session_queue_limit: Annotated[
        int, _about("Requests of one session that wait for their turn, in a gateway process.", ge=1)
    ] = 16
    meters_every_s: Annotated[
        Seconds,
        _about(
            "How often a gateway writes what it counted of a stream; what is new, or near a quota, within 2 seconds.",
            ge=2,
            le=60,
        ),
    ] = 20
    credential_cache_s: Annotated[
        Seconds, _about("How long a stream's credentials and options are cached.", ge=0, le=60)
    ] = 20
    feed_idle_s: Annotated[Seconds, _about("Idle limit of the streaming variant.", gt=0)] = 60

    job_time_limit_s: Annotated[Seconds, _about("Time a job may compute before it ends with an error.", gt=0)] = 30
    async_time_limit_s: Annotated[Seconds, _about("Time within which an accepted job ends in any case.", gt=0)] = 600
    async_jobs_per_stream: Annotated[int, _about("Accepted jobs of one stream that may wait.", ge=1)] = 10_000
    async_bytes_per_stream: Annotated[
        int, _about("Bytes of attachments of one stream's accepted jobs that may wait.", ge=1)
    ] = 1024**3
    dispatcher_jobs: Annotated[int, _about("Accepted jobs in progress at a dispatcher.", ge=1)] = 8
    lease_s: Annotated[Seconds, _about("How long a dispatcher holds a job before it must renew.", gt=1)] = 6

    result_retention_s: Annotated[
        Seconds, _about("Results of async jobs and of synchronous ones without a session.", gt=0)
    ] = 86_400
    session_result_retention_s: Annotated[Seconds, _about("Results of synchronous jobs in a session.", gt=0)] = 900
    session_idle_s: Annotated[Seconds, _about("A session that is idle for this long has ended.", gt=0)] = 60

    blob_store_url: Annotated[str, _about("s3://bucket or s3://bucket/prefix; empty: a folder below home.")] = ""
    s3_endpoint: Annotated[str, _about("Address of the S3 server; empty: Amazon's.")] = ""
    s3_region: Annotated[str, _about("Region of the bucket.")] = "us-east-1"
    s3_access_key: Annotated[str, _about("S3 access key.", secret=True)] = ""
    s3_secret_key: Annotated[str, _about("S3 secret key.", secret=True)] = ""
    blob_retention_s: Annotated[Seconds, _about("How long a blob is kept.", gt=0)] = 86_400
    blob_bytes_per_stream: Annotated[int, _about("Bytes of blobs one stream may keep.", ge=1)] = 1024**3

    senior_age: Annotated[float, _about("The age from which an interested person is a senior.", gt=0, le=150)] = 50

    developer_quota_s: Annotated[Seconds, _about("Computed video a developer stream has each month.", gt=0)] = 3 * 3600

    console_url: Annotated[
        str,
        _about("Scheme and host of the console, as people and programs see it.", pattern="^https?://[^/]+$"),
    ] = "https://localhost:8444"
    console_https_port: Annotated[
        int, _about("Port that the console's HTTPS listens on; 0: a proxy does it.", ge=0, le=65535)
    ] = 8444
    console_http_port: Annotated[
        int, _about("Port for plain HTTP, on loopback only, for a proxy in front; 0: none.", ge=0, le=65535)
    ] = 8081
    console_requests_limit: Annotated[int, _about("Requests the console handles at once.", ge=1, le=256)] = 16
    console_live_limit: Annotated[int, _about("Dashboards that the console keeps live at once.", ge=1)] = 200
    console_live_limit_per_account: Annotated[
        int, _about("Dashboards that it keeps live for one account at once.", ge=1)
    ] = 20
    console_refresh_s: Annotated[Seconds, _about("How often an open dashboard fetches new numbers.", ge=2, le=60)] = 30
    agent_packages: Annotated[
        str,
        _about(
            "Absolute path of a folder with wheels of the agent's dependencies, for devices that reach no public "
            "index: they install from the console alone (docs/guides/agent.md); empty: they come from a public index.",
            pattern="^$|^/",
        ),
    ] = ""
    secret_key: Annotated[
        str,
        _about("Signs the console's sessions and seals its keys; empty: `onlooker up` creates one.", secret=True),
    ] = ""
    secret_key_fallbacks: Annotated[
        str,
        _about("Earlier secret keys, separated by spaces, that still open what they signed and sealed.", secret=True),
    ] = ""
    signup: Annotated[
        str,
        _about("Who may create an account: open (everybody) or closed (staff only).", pattern="^(open|closed)$"),
    ] = "open"
    streams_per_account: Annotated[int, _about("Streams that one organisation may create in the console.", ge=1)] = 100
    api_requests_per_minute: Annotated[
        int, _about("Requests that one key may send to the management interface, at each console.", ge=1)
    ] = 600
    email_url: Annotated[
        str,
        _about(
            "Where e-mails go: smtp://user:password@host:587 (STARTTLS), smtps://user:password@host:465, "
            "smtp://127.0.0.1:25?tls=no, or file:///folder; empty: none is sent.",
            pattern="^$|^(smtp|smtps|file)://",
            secret=True,
        ),
    ] = ""
    email_from: Annotated[str, _about("Sender of e-mails.")] = "Onlooker <onlooker@localhost>"
    webhooks_allow_private: Annotated[
        str,
        _about(
            "Networks inside, separated by commas, that webhooks may be sent to, such as 10.20.0.0/16; empty: none "
            "(docs/guides/webhooks.md)."
        ),
    ] = ""
    webhooks_authority_file: Annotated[
        str,
        _about(
            "Certificates (PEM) of authorities that receivers of webhooks may have theirs from, besides those that "
            "the system trusts."
        ),
    ] = ""
    stripe_secret_key: Annotated[
        str,
        _about(
            "Stripe's secret key; empty: no billing, see ONLOOKER_ENTERPRISE_WITHOUT_BILLING. Needs the packages of "
            "the extra `billing` (docs/guides/billing.md).",
            secret=True,
        ),
    ] = ""
    enterprise_without_billing: Annotated[
        str,
        _about(
            "Who may choose the kind enterprise while there is no billing: everybody, or staff (which can grant it).",
            pattern="^(everybody|staff)$",
        ),
    ] = "everybody"
    stripe_webhook_secret: Annotated[str, _about("Signing secret of Stripe's webhook.", secret=True)] = ""
    stripe_price: Annotated[str, _about("Stripe's id of the price of an enterprise stream.")] = ""
    stripe_api_url: Annotated[str, _about("Address of Stripe's interface.", pattern="^https?://[^/]+$")] = (
        "https://api.stripe.com"
    )
    stripe_checkout_url: Annotated[
        str, _about("Scheme and host of Stripe's pages for cards.", pattern="^https?://[^/]+$")
    ] = "https://checkout.stripe.com"

    data_url: Annotated[
        str,
        _about("Scheme and host of the data endpoint, as programs see it.", pattern="^https?://[^/]+$"),
    ] = "https://localhost:8445"
    data_https_port: Annotated[
        int, _about("Port that the data endpoint's HTTPS listens on; 0: a proxy does it.", ge=0, le=65535)
    ] = 8445
    data_http_port: Annotated[
        int, _about("Port for plain HTTP, on loopback only, for a proxy in front; 0: none.", ge=0, le=65535)
    ] = 8082
    data_requests_limit: Annotated[
        int,
        _about(
            "Queries the data endpoint asks at a time, two fewer than connections; half for one stream.", ge=1, le=256
        ),
    ] = 6
    data_time_limit_s: Annotated[Seconds, _about("Time the database has for one page of numbers.", ge=0.1, le=600)] = 10
    data_rate_limit_per_second: Annotated[
        float, _about("Requests a second for one stream, at each data endpoint.", gt=0)
    ] = 20
    data_rate_limit_burst: Annotated[int, _about("Requests a stream may send at once above that.", ge=1)] = 60

    workers: Annotated[int, _about("Worker processes `onlooker up` starts.", ge=1, le=64)] = 1
    worker_name: Annotated[
        str,
        _about(
            "This worker's name, by which sessions find it again after a restart; empty: the host's.",
            pattern="^[a-z0-9-]*$",
        ),
    ] = ""
    worker_services: Annotated[str, _about("Services a worker hosts, separated by commas; empty: all it can.")] = ""
    worker_threads: Annotated[int, _about("Jobs a worker computes at once.", ge=1)] = 1
    inference_provider: Annotated[
        str,
        _about(
            "What the models run on: cpu, cuda, tensorrt or openvino, where the installed ONNX Runtime has it.",
            pattern="^(cpu|cuda|tensorrt|openvino)$",
        ),
    ] = "cpu"
    inference_threads: Annotated[
        int, _about("Threads of one model; workers x worker_threads x this should fit the cores.", ge=1, le=64)
    ] = 1
    person_model: Annotated[
        str,
        _about(
            "Absolute path of an ONNX file that finds people, with a card beside it (docs/guides/person-model.md); "
            "empty: the one that comes with Onlooker.",
            pattern="^$|^/",
        ),
    ] = ""
    confinement: Annotated[
        str,
        _about(
            "Whether what decodes strangers' bytes has no files, no network and no programs: on, or off where the "
            "kernel can't (docs/concepts/confinement.md).",
            pattern="^(on|off)$",
        ),
    ] = "on"
    compute_processes: Annotated[
        str,
        _about(
            "Whether all streams of a worker share one computing process, or each stream has one of its own: shared "
            "or stream.",
            pattern="^(shared|stream)$",
        ),
    ] = "shared"
    compute_processes_limit: Annotated[
        int,
        _about(
            "Computing processes of a worker where each stream has its own; the one used least recently makes room.",
            ge=1,
        ),
    ] = 8
    compute_spares: Annotated[
        int, _about("Computing processes that a worker keeps ready for when one ends or a stream comes.", ge=0, le=16)
    ] = 1
    compute_memory_bytes: Annotated[
        int, _about("Memory that a worker's computing process may take after its start.", ge=256 * 1024**2)
    ] = 2 * 1024**3
    compute_time_limit_s: Annotated[
        Seconds, _about("Time one call may compute; then its process is replaced and the job ends with an error.", gt=0)
    ] = 25
    compute_jobs: Annotated[int, _about("Jobs after which a computing process is replaced by a new one.", ge=1)] = (
        100_000
    )
    worker_queue_limit: Annotated[int, _about("Jobs that wait in a worker before it refuses.", ge=1)] = 64
    extra_services: Annotated[
        str, _about("Modules, separated by commas, that each add one service to the catalogue (a SERVICE).")
    ] = ""

    @property
    def home_path(self) -> Path:
        return Path(self.home).expanduser()

    @property
    def shared_path(self) -> Path:
        """Folder of what the gateways of a machine share while they run."""
        return self.home_path / "gateways"


def variable_name(field: str) -> str:
    return PREFIX + field.upper()


def describe_settings() -> list[tuple[str, Meta, Any]]:
    """Name, description and default of every setting, in order of declaration."""
    hints = get_type_hints(Settings, include_extras=True)
    fields = msgspec.structs.fields(Settings)
    return [(variable_name(f.name), get_args(hints[f.name])[1], f.default) for f in fields]


def read_settings(environ: Mapping[str, str] = os.environ) -> Settings:
    """Read and check all settings; raise SettingsError with the remedy."""
    known = {name: meta for name, meta, _ in describe_settings()}
    values: dict[str, str] = {}
    for name, value in environ.items():
        if not name.startswith(PREFIX) or name in OF_THE_CLIENT:
            continue
        base = name.removesuffix("_FILE")
        if name in known:
            values[name.removeprefix(PREFIX).lower()] = value
        elif base in known and (known[base].extra or {})["secret"]:
            values[base.removeprefix(PREFIX).lower()] = _read_secret(name, value)
        else:
            near = difflib.get_close_matches(base, known, n=1, cutoff=0.85)
            hint = f" Did you mean {near[0]}?" if near else " `onlooker settings` lists all of them."
            raise SettingsError(f"{name} is not a setting of Onlooker.{hint}")
    try:
        return msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        where = str(error).partition("`$.")[2].rstrip("`")
        complaint = str(error).partition(" - at")[0].replace("Expected `int`, got `str`", "it must be a whole number")
        complaint = complaint.replace("Expected `float`, got `str`", "it must be a number")
        raise SettingsError(f"{variable_name(where)} has a wrong value: {complaint}.") from None


def _read_secret(name: str, path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except OSError as error:
        raise SettingsError(f"{name} names a file that can't be read: {error.strerror}: {path}") from None
