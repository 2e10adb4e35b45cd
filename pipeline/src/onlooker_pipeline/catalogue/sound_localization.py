"""Description of `sound_localization`."""

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service

SERVICE = Service(
    name="sound_localization",
    version=1,
    description="Finds the directions that sounds come from, in a stereo recording.",
    fields=(
        Field("sound", FieldKind.MEDIA, "WAV, PCM 16 bit, 48 kHz, stereo.", required=True),
        Field("baseline", FieldKind.POSITIVE, "Metres between the two microphones, from 0.01 to 5.", required=True),
        Field("sensitivity", FieldKind.FRACTION, "How weak a source may be; 0 to 1, 0.5 when absent."),
    ),
    result={
        "input_size": "Number of stereo frames.",
        "nb_sources": "Number of sources.",
        "sources": "One object a source: `index`, `yaw` in radians (0 ahead, positive to the right), `confidence`.",
    },
    implementation="onlooker_pipeline.services.sound_localization",
)
