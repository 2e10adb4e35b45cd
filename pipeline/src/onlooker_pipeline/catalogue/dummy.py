"""Description of `dummy`."""

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service

SERVICE = Service(
    name="dummy",
    version=1,
    description="Echoes a text. For trying out a connection, credentials and sessions.",
    fields=(Field("echo", FieldKind.TEXT, "The text to send back; `echo` when absent."),),
    result={
        "echo": "The text that was sent.",
        "calls": "With a session: how many calls the session has had so far.",
    },
    implementation="onlooker_pipeline.services.dummy",
)
