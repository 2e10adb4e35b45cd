"""Onlooker's client: what runs on a device, and the SDK for programs."""

from __future__ import annotations

from onlooker_client.blob import Blob
from onlooker_client.client import Client
from onlooker_client.config import Config
from onlooker_client.errors import (
    BadArgument,
    BadCredentials,
    BadRequest,
    ComputationFailed,
    ConfigError,
    Conflict,
    LinkError,
    NotAllowed,
    NotFound,
    NotNow,
    NotReady,
    NotSent,
    NotSet,
    NotTrusted,
    OnlookerError,
    Refused,
    SourceError,
    TimedOut,
)
from onlooker_client.job import Job
from onlooker_client.numbers.bucket import Bucket
from onlooker_client.numbers.metrics import Metrics
from onlooker_client.service import Service
from onlooker_client.session import Session
from onlooker_client.version import VERSION as __version__

__all__ = [
    "BadArgument",
    "BadCredentials",
    "BadRequest",
    "Blob",
    "Bucket",
    "Client",
    "ComputationFailed",
    "Config",
    "ConfigError",
    "Conflict",
    "Job",
    "LinkError",
    "Metrics",
    "NotAllowed",
    "NotFound",
    "NotNow",
    "NotReady",
    "NotSent",
    "NotSet",
    "NotTrusted",
    "OnlookerError",
    "Refused",
    "Service",
    "Session",
    "SourceError",
    "TimedOut",
    "__version__",
]
