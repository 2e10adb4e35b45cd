"""Description of `sound_localization`."""

from onlooker.catalogue.service import Field, Kind, Service

SERVICE = Service(
    name="sound_localization",
    version=1,
    description="Finds the directions that sounds come from, in a stereo recording.",
    fields=(
        Field("sound", Kind.MEDIA, "WAV, PCM 16 bit, 48 kHz, stereo.", required=True),
        Field("baseline", Kind.POSITIVE, "Metres between the two microphones.", required=True),
        Field("sensitivity", Kind.FRACTION, "How weak a source may be; 0 to 1."),
    ),
    result={
        "input_size": "Number of stereo frames.",
        "nb_sources": "Number of sources.",
        "sources": "One object a source: `index`, `yaw`, `confidence`.",
    },
    implementation="onlooker.compute.services.sound_localization",
)
