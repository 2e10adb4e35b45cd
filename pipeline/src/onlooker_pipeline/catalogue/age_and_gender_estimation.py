"""Description of `age_and_gender_estimation`."""

from onlooker_pipeline.catalogue.media import IMAGE, faces_with
from onlooker_pipeline.catalogue.service import Service

SERVICE = Service(
    name="age_and_gender_estimation",
    version=1,
    description="Finds faces and estimates the age and gender of each.",
    fields=(IMAGE,),
    result=faces_with("`age`, `age_confidence`, `gender`, `gender_confidence`"),
    implementation="onlooker_pipeline.services.age_and_gender_estimation",
    models=("face_detect", "age", "gender"),
)
