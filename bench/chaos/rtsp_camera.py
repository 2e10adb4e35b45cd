"""A camera that speaks RTSP, out of GStreamer; for the system's own Python, which has its bindings.

Run as `python3 rtsp_camera.py PORT [FPS] [KEYFRAME_EVERY]`. It shows a bar that wanders, and in its top rows the time
of day in milliseconds: 32 squares, light for 1. So anyone who sees a picture can tell how old it is.
"""

import sys
import time

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtspServer  # noqa: E402 - the versions come first

WIDTH, HEIGHT, BITS = 640, 480, 32
SQUARE = WIDTH // BITS
BAR_PX = 80
DARK, LIGHT, GREY = 40, 215, 110
DEFAULTS = ["15", "30"]
"""Pictures a second, and of how many one is whole."""


def clock_rows(now_ms: int) -> bytes:
    """The top of a picture: one square a bit, the highest first."""
    row = b"".join(bytes([LIGHT if now_ms >> bit & 1 else DARK]) * SQUARE for bit in reversed(range(BITS)))
    return row * SQUARE


def picture(now_s: float) -> bytes:
    """In I420: all rows of light, then the colours, which are none."""
    left = int(now_s * 100) % (WIDTH - BAR_PX)
    row = bytes([GREY]) * left + bytes([LIGHT]) * BAR_PX + bytes([GREY]) * (WIDTH - BAR_PX - left)
    light = clock_rows(int(now_s * 1000) & (1 << BITS) - 1) + row * (HEIGHT - SQUARE)
    return light + b"\x80" * (WIDTH * HEIGHT // 2)


class Factory(GstRtspServer.RTSPMediaFactory):  # type: ignore[misc]
    """One film for all who watch, made while it is watched."""

    def __init__(self, fps: int, keyframe_every: int) -> None:
        super().__init__()
        self._fps = fps
        self.set_shared(True)
        self.set_launch(
            f"( appsrc name=pictures is-live=true format=time do-timestamp=true max-buffers=1 block=false "
            f"caps=video/x-raw,format=I420,width={WIDTH},height={HEIGHT},framerate={fps}/1 ! "
            f"x264enc tune=zerolatency speed-preset=ultrafast bitrate=600 key-int-max={keyframe_every} ! "
            f"rtph264pay name=pay0 pt=96 config-interval=1 )"
        )

    def do_configure(self, media: "GstRtspServer.RTSPMedia") -> None:
        pictures = media.get_element().get_by_name("pictures")

        def push() -> bool:
            flow = pictures.emit("push-buffer", Gst.Buffer.new_wrapped(picture(time.time())))
            return bool(flow == Gst.FlowReturn.OK)

        GLib.timeout_add(1000 // self._fps, push)


def main() -> None:
    port, fps, keyframe_every = (int(given) for given in [*sys.argv[1:], *DEFAULTS[len(sys.argv) - 2 :]])
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service(str(port))
    server.get_mount_points().add_factory("/camera", Factory(fps, keyframe_every))
    server.attach(None)
    GLib.MainLoop().run()


if __name__ == "__main__":
    main()
