"""Camera: whether it opens, how many pictures come, what they look like, and whether they change."""

from __future__ import annotations

from onlooker_client.doctor.examination import Examination, View
from onlooker_client.doctor.finding import Finding, bad, good, warn
from onlooker_client.doctor.focus import judge_focus, measure_focus
from onlooker_client.doctor.light import judge_light, measure_light
from onlooker_client.doctor.looking import Looker
from onlooker_client.doctor.network_camera import explain_failure
from onlooker_client.doctor.trouble import trouble
from onlooker_client.errors import SourceError

SLOW_RATE, TOO_SLOW_RATE = 9.5, 5.0
FROZEN_S = 7.0
"""Beyond the time for which it was watched anyway: compressed pictures of a still room may be equal for a while."""


def check_camera(examination: Examination) -> Finding:
    text = examination.config.source
    if not text:
        return bad("no camera is set", "Run onlooker-agent setup, or name one: onlooker-agent doctor 0")
    try:
        return good(_open(examination, text))
    except SourceError as error:
        return explain_failure(text) or trouble(error, "Check the camera, its cable and its address.")


def _open(examination: Examination, text: str) -> str:
    """Open it and watch it for a while; its name and size."""
    from onlooker_client.encoding import Encoder
    from onlooker_client.sources import open_source

    encoder = Encoder()
    examination.source = source = open_source(text, width_px=640, height_px=480, fps=examination.fps, loop=True)
    looker = Looker(source, encoder)
    look = looker.look()
    if not look.pictures:
        raise SourceError(f"{source.name} has no picture. Check the camera or the file.")
    examination.jpegs = [(picture.taken_at, encoder.encode_scaled(picture.pixels)) for picture in look.pictures]
    examination.view = View(looker, look, measure_light(look.pixels))
    width_px, height_px = look.size_px
    return f"{source.name}, {width_px}x{height_px}"


def check_frame_rate(examination: Examination) -> Finding:
    view = examination.seen()
    rate = view.look.rate
    figure = f"{rate:.1f} a second"
    if rate >= SLOW_RATE:
        return good(figure)
    remedy = f"{examination.fps:g} a second are best. Ask the camera for more in its own settings."
    if view.light.is_dark:
        remedy = "Add light: in the dark a camera exposes each picture for longer, and so takes fewer."
    return (bad if rate < TOO_SLOW_RATE else warn)(f"{figure}: too few", remedy)


def check_light(examination: Examination) -> Finding:
    return judge_light(examination.seen().light)


def check_focus(examination: Examination) -> Finding:
    view = examination.seen()
    return judge_focus(measure_focus(view.look.pixels), is_dark=view.light.is_dark)


def check_picture(examination: Examination) -> Finding:
    """A living sensor always has noise; a video or a folder may stand still."""
    view = examination.seen()
    if view.looker.failure is not None:
        return trouble(view.looker.failure, "The camera does not last. Check its cable, its power and its network.")
    if not view.looker.is_live:
        return good("comes from a file")
    if view.look.changes or view.looker.wait_for_change(FROZEN_S):
        return good("moves")
    return bad(
        f"frozen: the same for {view.look.span_s + FROZEN_S:.0f} s",
        "Take the camera off its power or USB port and plug it in again. If that helps only for a while, replace it.",
    )
