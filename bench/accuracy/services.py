"""Asking a service as a worker does: a picture's bytes go in, the result that goes on the wire comes out."""

from functools import cache
from importlib import import_module
from typing import Any

from onlooker_pipeline.service_call import Call, Compute


def ask(service: str, picture: bytes) -> dict[str, Any]:
    """The result for one picture, outside any session."""
    result, _ = _compute_of(service)(Call({}, {"image": picture}, in_session=False), None)
    return result


def faces_of(service: str, picture: bytes) -> list[dict[str, Any]]:
    """The faces of its result, from left to right."""
    return sorted(ask(service, picture)["faces"], key=lambda face: face["roi"][0])


@cache
def _compute_of(service: str) -> Compute:
    compute: Compute = import_module(f"onlooker_pipeline.services.{service}").compute
    return compute
