"""A service that finds people by their bodies: the one net that no service of the catalogue has yet."""

from typing import Any

from onlooker_pipeline.catalogue.media import IMAGE
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.service_call import Call
from onlooker_pipeline.vision.persons import find_persons
from onlooker_pipeline.vision.picture import decode_picture

SERVICE = Service(
    name="bodies",
    version=1,
    description="Counts people.",
    fields=(IMAGE,),
    result={"nb_persons": "How many."},
    implementation="extra.bodies",
    models=("person_detect",),
)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    return {"nb_persons": len(find_persons(decode_picture(call.attachments["image"])))}, state
