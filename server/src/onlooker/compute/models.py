"""Where the models lie, and what to do where they do not."""

from collections.abc import Iterable
from importlib.util import find_spec

from onlooker.catalogue.service import Service
from onlooker.settings import SettingsError

PACKAGE = "onlooker_models"


def require_models(services: Iterable[Service]) -> None:
    """Refuse to go on where a service needs models and there are none; nothing is loaded."""
    if any(service.models for service in services) and find_spec(PACKAGE) is None:
        raise SettingsError(
            "The models are not installed. Run `just models` in the project's folder: it builds them and installs "
            "them beside the server. On another machine, install the onlooker-models wheel that it made."
        )


def check_models() -> None:
    """Refuse to compute with other files than those that were built."""
    import onlooker_models

    if damaged := onlooker_models.find_damaged():
        raise SettingsError(f"Model files are missing or damaged: {', '.join(damaged)}. Run `just models` again.")


def model_file(name: str) -> str:
    """Path of a file of the models package."""
    import onlooker_models

    return str(onlooker_models.path(name))
