"""A service that is in the catalogue and that no worker can host."""

from onlooker.catalogue.service import Field, Kind, Service

SERVICE = Service(
    name="unhosted",
    version=1,
    description="Nobody computes this.",
    fields=(Field("image", Kind.MEDIA, "Any bytes."),),
    result={},
    implementation="extra.nowhere",
    makes_visits=True,
)
