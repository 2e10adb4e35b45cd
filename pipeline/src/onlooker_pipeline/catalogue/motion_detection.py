"""Description of `motion_detection`."""

from onlooker_pipeline.catalogue.media import FACES, IMAGE
from onlooker_pipeline.catalogue.service import Service

SERVICE = Service(
    name="motion_detection",
    version=1,
    description="Finds what moved since the session's previous picture; without a session, nothing.",
    fields=(IMAGE,),
    result={
        "input_size": FACES["input_size"],
        "nb_targets": "Number of moving targets.",
        "targets": "One object a target: `mean_position` `[x, y]` in pixels, `mean_velocity` `[x, y]` in pixels since "
        "the previous picture, `confidence`.",
    },
    implementation="onlooker_pipeline.services.motion_detection",
)
