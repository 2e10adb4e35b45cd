"""The parts that a request's handler works with, and finding them from a request."""

import uuid
from dataclasses import dataclass

from starlette.requests import Request

from onlooker.bus.buckets import Bucket
from onlooker.bus.connection import Bus
from onlooker.bus.session_bucket import SessionBucket
from onlooker.catalogue import Catalogue
from onlooker.catalogue.service import Service
from onlooker.database import Pool
from onlooker.errors import not_found
from onlooker.gateway.accepted.order import SessionOrder
from onlooker.gateway.blobstore import BlobStore
from onlooker.gateway.engine.engine import Engine
from onlooker.gateway.engine.workers import Workers
from onlooker.gateway.limits.memory import BodyMemory, Holding
from onlooker.gateway.limits.places import Places
from onlooker.gateway.limits.turns import Turns
from onlooker.gateway.metering import Metering
from onlooker.gateway.results import Results
from onlooker.settings import Settings
from onlooker.streams.credentials import Credentials, StreamRecord
from onlooker.streams.rates import Rates


@dataclass(frozen=True, kw_only=True)
class Parts:
    """Everything one gateway process is made of."""

    settings: Settings
    catalogue: Catalogue
    bus: Bus
    pool: Pool
    credentials: Credentials
    rates: Rates
    metering: Metering
    workers: Workers
    engine: Engine
    turns: Turns
    order: SessionOrder
    results: Results
    sessions: SessionBucket
    feeds: Bucket
    blobs: BlobStore
    memory: BodyMemory
    places: Places
    """For synchronous jobs that have no answer yet."""

    def url(self, path: str) -> str:
        """An absolute URL, from the configured public address and never from the request."""
        return self.settings.public_url + path


def parts_of(request: Request) -> Parts:
    parts = request.scope["app"]
    assert isinstance(parts, Parts)
    return parts


def stream_of(request: Request) -> StreamRecord:
    """The stream whose credentials came with the request."""
    stream = request.scope["stream"]
    assert isinstance(stream, StreamRecord)
    return stream


def holding_of(request: Request) -> Holding:
    """What the request holds of the gateway's memory; given back when it ends."""
    holding = request.scope["holding"]
    assert isinstance(holding, Holding)
    return holding


def service_of(request: Request) -> Service:
    """The service version that the path names."""
    service = find_service(parts_of(request), request.path_params["name"], request.path_params["version"])
    if service is None:
        raise not_found("service version")
    return service


def find_service(parts: Parts, name: str, version: str) -> Service | None:
    versions = parts.catalogue.get(name, {})
    return next((service for number, service in versions.items() if str(number) == version), None)


def id_of(request: Request, what: str) -> uuid.UUID:
    """The id in the path; what is not a UUID names nothing."""
    try:
        return uuid.UUID(request.path_params["id"])
    except ValueError:
        raise not_found(what) from None


def service_path(service: Service) -> str:
    return f"/services/{service.name}/{service.version}"
