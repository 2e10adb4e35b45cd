"""Camera checks: whether it opens, how many pictures come, what they look like, and whether they change."""

from __future__ import annotations

from onlooker_client.doctor.examination import CameraObserver, CameraView, Examination
from onlooker_client.doctor.findings import Finding, bad, finding_of_error, good, warn
from onlooker_client.doctor.limits import SMALLEST_FACE_PX, USUAL_VIEW_DEGREES, farthest_m
from onlooker_client.doctor.network_camera import explain_failure
from onlooker_client.doctor.picture import (
    judge_focus,
    judge_light,
    judge_noise,
    measure_focus,
    measure_light,
    measure_noise,
)
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
        return explain_failure(text) or finding_of_error(error, "Check the camera, its cable and its address.")


def _open(examination: Examination, text: str) -> str:
    """Open it and watch it for a while; its name and size."""
    from onlooker_client.jpeg import JpegEncoder
    from onlooker_client.sources import open_source

    encoder = JpegEncoder()
    examination.source = source = open_source(text, width_px=640, height_px=480, fps=examination.fps, loop=True)
    observer = CameraObserver(source, encoder)
    observation = observer.observe()
    if not observation.pictures:
        raise SourceError(f"{source.name} has no picture. Check the camera or the file.")
    examination.jpegs = [(picture.taken_at, encoder.encode_scaled(picture.pixels)) for picture in observation.pictures]
    examination.view = CameraView(observer, observation, measure_light(observation.pixels))
    width_px, height_px = observation.size_px
    return f"{source.name}, {width_px}x{height_px}"


def check_frame_rate(examination: Examination) -> Finding:
    view = examination.seen()
    rate = view.observation.rate
    figure = f"{rate:.1f} a second"
    if rate >= SLOW_RATE:
        return good(figure)
    remedy = f"{examination.fps:g} a second is best. Raise the rate in the camera's own settings."
    if view.light.is_dark:
        remedy = "Add light: in the dark a camera exposes each picture for longer, and so takes fewer."
    return (bad if rate < TOO_SLOW_RATE else warn)(f"{figure}: too low", remedy)


def check_light(examination: Examination) -> Finding:
    return judge_light(examination.seen().light)


def check_focus(examination: Examination) -> Finding:
    view = examination.seen()
    return judge_focus(measure_focus(view.observation.pixels), is_dark=view.light.is_dark)


def check_noise(examination: Examination) -> Finding:
    return judge_noise(measure_noise(examination.seen().observation.pixels))


def check_distance(examination: Examination) -> Finding:
    """Not a fault: how far away people may stand is told, so that nobody has to find out by odd numbers."""
    stated, width_px = examination.view_degrees, examination.seen().observation.pixels[0].shape[1]
    metres = farthest_m(width_px, stated or USUAL_VIEW_DEGREES)
    basis = f"with a view of {stated:g} degrees" if stated else f"assuming a view of {USUAL_VIEW_DEGREES:g} degrees"
    figure = f"people may stand up to {metres:.1f} m away, {basis}; beyond, faces are under {SMALLEST_FACE_PX} pixels"
    return good(figure, "" if stated else "If the lens sees wider or narrower, state it: --view-degrees 90")


def check_picture(examination: Examination) -> Finding:
    """A living sensor always has noise; a video or a folder may stand still."""
    view = examination.seen()
    if view.observer.failure is not None:
        return finding_of_error(
            view.observer.failure, "The camera stopped giving pictures. Check its cable, power and network."
        )
    if not view.observer.is_live:
        return good("comes from a file")
    if view.observation.changes or view.observer.wait_for_change(FROZEN_S):
        return good("moves")
    return bad(
        f"frozen: the same for {view.observation.span_s + FROZEN_S:.0f} s",
        "Unplug the camera and plug it in again. If that helps only for a while, replace it.",
    )
