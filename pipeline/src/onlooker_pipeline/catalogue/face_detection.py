"""Description of `face_detection`."""

from onlooker_pipeline.catalogue.media import FACES, IMAGE
from onlooker_pipeline.catalogue.service import Service

SERVICE = Service(
    name="face_detection",
    version=1,
    description="Finds faces. With a session it follows them, and reports a face from its fourth sighting on.",
    fields=(IMAGE,),
    result=FACES,
    implementation="onlooker_pipeline.services.face_detection",
    models=("face_detect",),
)
