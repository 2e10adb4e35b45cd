"""Which variables each process of one machine gets: its settings, and only the secrets that it needs."""

import os
from pathlib import Path

from onlooker.bus.roles import DISPATCHER, GATEWAY, RECORDER
from onlooker.database_roles.logins import OVERRIDDEN
from onlooker.settings import OF_THE_CLIENT, PREFIX, Settings, describe_settings, variable_name
from onlooker.up.certificates import authority_file
from onlooker_pipeline.model_runtime import TELEMETRY_SWITCHES

CONSOLE, DATA = "console", "data"
"""Not on the bus: they show what is in the database."""

_ALL_SECRETS = {
    name.removeprefix(PREFIX).lower() for name, meta, _ in describe_settings() if (meta.extra or {})["secret"]
}
SECRETS = {
    GATEWAY: {"database_url", "s3_access_key", "s3_secret_key"},
    DISPATCHER: {"database_url", "s3_access_key", "s3_secret_key"},
    RECORDER: {"database_url"},
    CONSOLE: {
        "database_url",
        "secret_key",
        "secret_key_fallbacks",
        "email_url",
        "stripe_secret_key",
        "stripe_webhook_secret",
    },
    DATA: {"database_url"},
}
"""By process, besides its own password on the bus."""
ON_HTTPS = (GATEWAY, CONSOLE, DATA)
"""They show a certificate, and have its key."""
PASSED_TO_WORKERS = (
    "bucket_shards",
    "compute_jobs",
    "compute_memory_bytes",
    "compute_processes",
    "compute_processes_limit",
    "compute_spares",
    "compute_time_limit_s",
    "confinement",
    "extra_services",
    "inference_provider",
    "inference_threads",
    "log_level",
    "monitoring_host",
    "monitoring_hosts",
    "person_model",
    "session_idle_s",
    "session_result_retention_s",
    "traces_ratio",
    "traces_url",
    "worker_queue_limit",
    "worker_services",
    "worker_threads",
)
PASSED_FROM_SYSTEM = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "VIRTUAL_ENV", "TZ")


def process_environment(settings: Settings, process: str, *, database_url: str, tls: dict[str, str]) -> dict[str, str]:
    """Of a process other than a worker; with a database URL of its own, unless that is empty."""
    ours = {k: v for k, v in os.environ.items() if k.startswith((PREFIX, "PG")) and k not in OF_THE_CLIENT}
    known = {name: value for name, value in ours.items() if _may_know(process, name)}
    known |= system_environment() | {"ONLOOKER_HOME": str(settings.home_path)}  # children have no HOME
    if process in ON_HTTPS:
        return as_role(known | tls, database_url)
    return as_role({name: value for name, value in known.items() if name not in tls}, database_url)


def as_role(environment: dict[str, str], database_url: str) -> dict[str, str]:
    """The same with another database URL, unless that is empty."""
    if not database_url:
        return environment
    url = variable_name("database_url")
    gone = {f"{url}_FILE", *OVERRIDDEN}
    return {name: value for name, value in environment.items() if name not in gone} | {url: database_url}


def tls_environment(settings: Settings, certificate: str, key: str) -> dict[str, str]:
    """Which certificate the processes show, and which one devices must trust.

    Where a proxy does HTTPS, devices never see a certificate of the local authority.
    """
    tls = {"ONLOOKER_TLS_CERTIFICATE_FILE": certificate, "ONLOOKER_TLS_KEY_FILE": key}
    if settings.https_port and not settings.tls_certificate_file:
        tls["ONLOOKER_AUTHORITY_FILE"] = str(authority_file(Path(certificate).parent))
    return tls


def _may_know(process: str, variable: str) -> bool:
    """A process gets only the secrets it needs."""
    setting = variable.removeprefix(PREFIX).removesuffix("_FILE").lower()
    return setting not in _ALL_SECRETS or setting in SECRETS[process]


def system_environment() -> dict[str, str]:
    return {name: os.environ[name] for name in PASSED_FROM_SYSTEM if name in os.environ}


def worker_environment(settings: Settings, name: str) -> dict[str, str]:
    """Named variables only: a worker decodes what strangers send, and knows no secret except its own."""
    passed = {variable_name(field): str(getattr(settings, field)) for field in PASSED_TO_WORKERS}
    return (
        system_environment()
        | TELEMETRY_SWITCHES
        | passed
        | {"ONLOOKER_NATS_URL": settings.nats_url, "ONLOOKER_WORKER_NAME": name}
        | {"ONLOOKER_STATE_COMPRESSION": settings.state_compression or "on"}
    )
