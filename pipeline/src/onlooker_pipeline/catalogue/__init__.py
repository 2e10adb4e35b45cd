"""The services, one line per version; the gateway reads them without loading any model code."""

from importlib import import_module

from onlooker_pipeline.catalogue import (
    age_and_gender_estimation,
    dummy,
    face_detection,
    face_expression_estimation,
    gaze_analysis,
    motion_detection,
    scene_analysis,
    sound_localization,
)
from onlooker_pipeline.catalogue.service import Service

SERVICES: tuple[Service, ...] = (
    dummy.SERVICE,
    face_detection.SERVICE,
    gaze_analysis.SERVICE,
    motion_detection.SERVICE,
    age_and_gender_estimation.SERVICE,
    face_expression_estimation.SERVICE,
    sound_localization.SERVICE,
    scene_analysis.SERVICE,
)

Catalogue = dict[str, dict[int, Service]]


def read_catalogue(extra_services: str = "") -> Catalogue:
    """Every service by name and version; `extra_services` lists further modules with a SERVICE."""
    extra = [import_module(path.strip()).SERVICE for path in extra_services.split(",") if path.strip()]
    catalogue: Catalogue = {}
    for service in (*SERVICES, *extra):
        catalogue.setdefault(service.name, {})[service.version] = service
    return catalogue
