"""A service that finds people by their bodies: the one net that no service of the catalogue has yet."""

from typing import Any

from onlooker.catalogue.media import IMAGE
from onlooker.catalogue.service import Service
from onlooker.compute.call import Call
from onlooker.compute.vision.decoding import decode_picture
from onlooker.compute.vision.persons import find_persons

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
