"""Description of `face_expression_estimation`."""

from onlooker_pipeline.catalogue.media import IMAGE, faces_with
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.expressions import EXPRESSIONS

SERVICE = Service(
    name="face_expression_estimation",
    version=1,
    description="Finds faces and reads the expression of each.",
    fields=(IMAGE,),
    result=faces_with(", ".join(f"`{name}`" for name in EXPRESSIONS) + ", each from 0 to 1"),
    implementation="onlooker_pipeline.services.face_expression_estimation",
    models=("face_detect", "emotion_fa", "emotion_mx"),
)
