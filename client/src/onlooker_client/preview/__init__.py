"""What was answered, drawn over the pictures: into a window or a video; imported only where one is asked for."""

from onlooker_client.preview.output import Preview, open_preview

__all__ = ["Preview", "open_preview"]
