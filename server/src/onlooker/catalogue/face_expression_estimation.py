"""Description of `face_expression_estimation`."""

from onlooker.catalogue.media import IMAGE, faces_with
from onlooker.catalogue.service import Service

SERVICE = Service(
    name="face_expression_estimation",
    version=1,
    description="Finds faces and reads the expression of each.",
    fields=(IMAGE,),
    result=faces_with("`neutral`, `happiness`, `surprise`, `anger`, `sadness`, each from 0 to 1"),
    implementation="onlooker.compute.services.face_expression_estimation",
    models=("face_detect", "emotion_fa", "emotion_mx"),
)
