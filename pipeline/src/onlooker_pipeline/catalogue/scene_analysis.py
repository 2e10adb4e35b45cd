"""Description of `scene_analysis`."""

from onlooker_pipeline.catalogue.media import IMAGE
from onlooker_pipeline.catalogue.service import Field, FieldKind, Service
from onlooker_pipeline.expressions import EXPRESSIONS

EVENTS = (
    "appearance",
    "disappearance",
    "age_estimated",
    "gender_estimated",
    "focus_locked",
    "emotion_detected",
    "direction_estimated",
)

BODY_MODELS = ("person_detect",)
"""All that runs for a stream that only counts."""

SERVICE = Service(
    name="scene_analysis",
    version=1,
    description="Follows people through a session: who is there, where each looks, how old, which gender and mood.",
    fields=(
        IMAGE,
        Field(
            "timestamp",
            FieldKind.TIMESTAMP,
            "When the picture was taken; without an offset in the stream's time zone; time of arrival when absent.",
        ),
        Field("store", FieldKind.BOOLEAN, "Whether visits are kept for the metrics; false when absent."),
        Field("camera_position", FieldKind.TEXT, "Where the camera hangs.", choices=("facing", "ceiling")),
        Field(
            "sensitivity",
            FieldKind.FRACTIONS,
            "How readily each event is raised: 0 when it is all but certain, 0.5 (when absent) when it is likelier "
            "than not, 1 at the first sign.",
            choices=EVENTS,
        ),
    ),
    result={
        "timestamp": "Time of the picture, as it was sent, or of its arrival. With `late` beside it, true, the picture "
        "came too late to be looked at.",
        "input_size": "`[height, width]` of the picture, in pixels.",
        "events": "What changed with this picture: `entity_id`, `entity_type` (`human`), `type`, `confidence`, `key`.",
        "entities": "The people whose face was seen, by id: `face_roi`, `face_roi_confidence`, `full_body_roi`, "
        "`full_body_roi_confidence`, `age`, `age_confidence`, `gender`, `gender_confidence`, "
        f"{', '.join(f'`emotion_{name}`' for name in EXPRESSIONS)}, `emotion_smiling_degree`, `emotion_confidence`, "
        "`face_eye`, `face_mouth`, `face_nose`, `face_confidence`, `gaze` `[yaw, pitch]`, "
        "`gaze_confidence`, `head` `[yaw, pitch, roll]`, `head_confidence`, `direction`.",
        "bodies": "The people whose face was never seen, by id: `full_body_roi`, `full_body_roi_confidence`, "
        "`direction`.",
    },
    implementation="onlooker_pipeline.services.scene_analysis",
    models=(
        "face_detect",
        "face_landmark",
        "iris_landmark",
        "person_detect",
        "age",
        "gender",
        "emotion_fa",
        "emotion_mx",
    ),
    makes_visits=True,
)
