"""Sources of pictures: cameras, videos, folders, standard input. OpenCV is imported when one is opened."""

from onlooker_client.sources.naming import describe
from onlooker_client.sources.opening import open_source
from onlooker_client.sources.source import Picture, Source

__all__ = ["Picture", "Source", "describe", "open_source"]
