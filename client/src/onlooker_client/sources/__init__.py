"""Sources of pictures: cameras, videos, folders, standard input. OpenCV is imported when one is opened."""

from onlooker_client.sources.kinds import describe
from onlooker_client.sources.opener import open_source
from onlooker_client.sources.source import Picture, Source

__all__ = ["Picture", "Source", "describe", "open_source"]
