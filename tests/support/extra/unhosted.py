"""A service that is in the catalogue and that no worker can host."""

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service

SERVICE = Service(
    name="unhosted",
    version=1,
    description="Nobody computes this.",
    fields=(Field("image", FieldKind.MEDIA, "Any bytes."),),
    result={},
    implementation="extra.nowhere",
    makes_visits=True,
)
