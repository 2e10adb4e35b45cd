"""Which services a worker hosts, and loading their code."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from onlooker.catalogue import Catalogue
from onlooker.catalogue.service import Service
from onlooker.compute.call import Compute
from onlooker.compute.models import check_models, require_models
from onlooker.settings import SettingsError


@dataclass(frozen=True)
class Hosted:
    """A service and the function that computes it."""

    service: Service
    compute: Compute


def _load(service: Service) -> Compute:
    try:
        compute: Compute = import_module(service.implementation).compute
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{service.name} needs the package {error.name!r}, which is not installed. "
            "Install Onlooker with its `compute` extra, or leave the service out in ONLOOKER_WORKER_SERVICES."
        ) from None
    return compute


def chosen_services(catalogue: Catalogue, wanted: str) -> list[Service]:
    """The wanted services (all that this installation can compute when empty); none of their code is loaded."""
    services = [service for versions in catalogue.values() for service in versions.values()]
    available = [service for service in services if find_spec(service.implementation)]
    known = list(dict.fromkeys(service.name for service in available))
    names = [name.strip() for name in wanted.split(",") if name.strip()] or known
    for name in names:
        if name not in known:
            raise SettingsError(
                f"ONLOOKER_WORKER_SERVICES names {name!r}, which this installation can't compute. "
                f"It can compute: {', '.join(known)}."
            )
    return [service for service in available if service.name in names]


def host_services(catalogue: Catalogue, wanted: str) -> list[Hosted]:
    """Load the wanted services."""
    return [Hosted(service, _load(service)) for service in chosen_services(catalogue, wanted)]


def load_models(hosted_services: list[Hosted], *, provider: str, threads: int) -> None:
    """Load what the hosted services compute with; ONNX Runtime itself only where one of them needs it."""
    require_models(hosted.service for hosted in hosted_services)
    names = dict.fromkeys(name for hosted in hosted_services for name in hosted.service.models)
    if names:
        from onlooker.compute.vision.networks import load_networks

        check_models()
        load_networks(names, provider=provider, threads=threads)
