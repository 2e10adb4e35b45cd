"""Description of `age_and_gender_estimation`."""

from onlooker.catalogue.media import IMAGE, faces_with
from onlooker.catalogue.service import Service

SERVICE = Service(
    name="age_and_gender_estimation",
    version=1,
    description="Finds faces and estimates the age and gender of each.",
    fields=(IMAGE,),
    result=faces_with("`age`, `age_confidence`, `gender`, `gender_confidence`"),
    implementation="onlooker.compute.services.age_and_gender_estimation",
    models=("face_detect", "age", "gender"),
)
