"""Description of `scene_analysis`."""

from onlooker.catalogue.media import IMAGE
from onlooker.catalogue.service import Field, Kind, Service

SERVICE = Service(
    name="scene_analysis",
    version=1,
    description="Follows people through a session: who is there, where each looks, how old, which gender and mood.",
    fields=(
        IMAGE,
        Field("timestamp", Kind.TIMESTAMP, "When the picture was taken; time of arrival when absent."),
        Field("store", Kind.BOOLEAN, "Whether visits are kept for the metrics; false when absent."),
        Field("camera_position", Kind.TEXT, "Where the camera hangs.", choices=("facing", "ceiling")),
        Field("sensitivity", Kind.FRACTIONS, "How readily each event is raised."),
    ),
    result={
        "timestamp": "Time of the picture.",
        "events": "What changed: `entity_id`, `entity_type`, `type`, `confidence`, `key`.",
        "entities": "The people in view whose face was seen, by id.",
    },
    implementation="onlooker.compute.services.scene_analysis",
)
