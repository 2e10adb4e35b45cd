"""What the models need before they are loaded: their files, and a runtime that reports nothing to its maker."""

from collections.abc import Iterable
from importlib.util import find_spec

from onlooker_pipeline.catalogue.service import Service

TELEMETRY_SWITCHES = {"ORT_DISABLE_TELEMETRY": "1"}
"""The official Linux wheels of ONNX Runtime upload usage data unless this is set before they are imported."""
PACKAGE = "onlooker_models"


class ModelsUnavailable(Exception):
    """The models are missing or damaged, or can't be run as asked; the message names the remedy."""


def require_models(services: Iterable[Service]) -> None:
    """Raise ModelsUnavailable if a service needs models and none are installed; loads nothing."""
    if any(service.models for service in services) and find_spec(PACKAGE) is None:
        raise ModelsUnavailable(
            "The models are not installed. Run `just models` in the project's folder: it builds them and installs "
            "them beside the server. On another machine, install the onlooker-models wheel that it made."
        )


def check_models() -> None:
    """Raise ModelsUnavailable if a model file differs from the one that was built."""
    import onlooker_models

    if damaged := onlooker_models.find_damaged():
        raise ModelsUnavailable(f"Model files are missing or damaged: {', '.join(damaged)}. Run `just models` again.")


def model_file(name: str) -> str:
    """Path of a file of the models package."""
    import onlooker_models

    return str(onlooker_models.path(name))
