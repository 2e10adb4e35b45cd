"""Which services a worker hosts, and loading their code."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec

from onlooker.catalogue import Catalogue
from onlooker.catalogue.service import Service
from onlooker.compute.call import Compute
from onlooker.settings import SettingsError


@dataclass(frozen=True)
class Hosted:
    """A service and the function that computes it."""

    service: Service
    compute: Compute


def host_services(catalogue: Catalogue, wanted: str) -> list[Hosted]:
    """Load the wanted services (all that this installation can compute when empty)."""
    available = {
        service.name: service
        for versions in catalogue.values()
        for service in versions.values()
        if find_spec(service.implementation)
    }
    names = [name.strip() for name in wanted.split(",") if name.strip()] or list(available)
    for name in names:
        if name not in available:
            raise SettingsError(
                f"ONLOOKER_WORKER_SERVICES names {name!r}, which this installation can't compute. "
                f"It can compute: {', '.join(available)}."
            )
    return [
        Hosted(service, import_module(service.implementation).compute)
        for versions in catalogue.values()
        for service in versions.values()
        if service.name in names and find_spec(service.implementation)
    ]
