"""The services that a worker hosts, with their code and models."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from onlooker.settings import Settings, SettingsError
from onlooker_pipeline.catalogue import Catalogue
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.model_runtime import check_models, require_models
from onlooker_pipeline.service_call import Compute


@dataclass(frozen=True)
class HostedService:
    """A service and the function that computes it."""

    service: Service
    compute: Compute


def _load_compute(service: Service) -> Compute:
    try:
        compute: Compute = import_module(service.implementation).compute
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"{service.name} needs the package {error.name!r}, which is not installed. "
            "Install Onlooker with its `compute` extra, or leave the service out in ONLOOKER_WORKER_SERVICES."
        ) from None
    return compute


def chosen_services(catalogue: Catalogue, wanted: str) -> list[Service]:
    """The wanted services, or all that this installation can compute; loads none of their code."""
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


def host_services(catalogue: Catalogue, wanted: str) -> list[HostedService]:
    """Load the wanted services."""
    return [HostedService(service, _load_compute(service)) for service in chosen_services(catalogue, wanted)]


def load_models(hosted_services: list[HostedService], settings: Settings) -> None:
    """Load the models of the hosted services; ONNX Runtime itself only if one of them needs it."""
    require_models(hosted.service for hosted in hosted_services)
    names = dict.fromkeys(name for hosted in hosted_services for name in hosted.service.models)
    if not names:
        return
    from onlooker_pipeline.vision.networks import load_networks
    from onlooker_pipeline.vision.person_model import PERSON_MODEL
    from onlooker_pipeline.vision.person_model_file import load_person_model

    check_models()
    provider, threads = settings.inference_provider, settings.inference_threads
    if settings.person_model and PERSON_MODEL in names:
        load_person_model(Path(settings.person_model), provider=provider, threads=threads)
    load_networks(names, provider=provider, threads=threads)
