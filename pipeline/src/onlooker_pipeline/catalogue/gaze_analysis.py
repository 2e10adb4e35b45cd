"""Description of `gaze_analysis`."""

from onlooker_pipeline.catalogue.media import IMAGE, faces_with
from onlooker_pipeline.catalogue.service import Service

SERVICE = Service(
    name="gaze_analysis",
    version=1,
    description="Finds faces and says where each head and gaze points.",
    fields=(IMAGE,),
    result=faces_with(
        "`eye_left`, `eye_right`, `nose`, `head_yaw`, `head_pitch`, `head_roll`, `gaze_yaw`, `gaze_pitch`"
    ),
    implementation="onlooker_pipeline.services.gaze_analysis",
    models=("face_detect", "face_landmark", "iris_landmark"),
)
