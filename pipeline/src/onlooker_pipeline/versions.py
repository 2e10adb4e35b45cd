"""Which release of the models and of the pipeline computes here."""

from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple


class Versions(NamedTuple):
    """Numbers are comparable as long as both stay the same; empty where nothing is known."""

    models: str = ""
    pipeline: str = ""


def read_versions() -> Versions:
    """Of what is installed."""
    return Versions(_version_of("onlooker-models"), _version_of("onlooker-pipeline"))


def _version_of(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
