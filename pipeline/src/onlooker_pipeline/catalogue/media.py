"""Fields and result members that several descriptions share."""

from onlooker_pipeline.catalogue.service import Field, FieldKind

IMAGE = Field("image", FieldKind.MEDIA, "A JPEG or PNG picture, grey or colour.", required=True)

FACES = {
    "input_size": "`[height, width]` of the picture, in pixels.",
    "nb_faces": "Number of faces.",
    "faces": "One object a face, with `roi` `[x, y, width, height]` and `roi_confidence`",
}


def faces_with(members: str) -> dict[str, str]:
    """The result of a service that says more of each face."""
    return FACES | {"faces": f"{FACES['faces']}, and {members}."}
