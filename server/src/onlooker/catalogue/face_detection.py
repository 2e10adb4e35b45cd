"""Description of `face_detection`."""

from onlooker.catalogue.media import FACES, IMAGE
from onlooker.catalogue.service import Service

SERVICE = Service(
    name="face_detection",
    version=1,
    description="Finds faces. With a session it follows them, and reports a face from its fourth sighting on.",
    fields=(IMAGE,),
    result=FACES,
    implementation="onlooker.compute.services.face_detection",
    models=("face_detect",),
)
