"""A service that says how many bytes it was sent, and their SHA-256."""

import hashlib
from typing import Any

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service
from onlooker_pipeline.service_call import Call

SERVICE = Service(
    name="measure",
    version=1,
    description="Measures an image's bytes.",
    fields=(
        Field("image", FieldKind.MEDIA, "Any bytes.", required=True),
        Field("timestamp", FieldKind.TIMESTAMP, "When it was taken."),
    ),
    result={"size": "Bytes.", "sha256": "Their hash.", "frames": "With a session: frames so far."},
    implementation="extra.measure",
)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    image = call.attachments["image"]
    result: dict[str, Any] = {"size": len(image), "sha256": hashlib.sha256(image).hexdigest()}
    frames = (state or 0) + 1
    return (result | {"frames": frames}, frames) if call.in_session else (result, None)
