"""Whether doctor's limits are as strict as the map: from where on pictures get noticeably worse for people."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bench.accuracy.condition_axes import NEAR_PX, MapCell
from bench.accuracy.map_report import AxisMap
from bench.accuracy.portrait_readings import SEED, SizedPortrait
from bench.lib.degradation import Condition, degrade
from bench.lib.figures import Figure
from bench.lib.portraits import at_size
from onlooker_client.doctor.limits import NOISY, SMALLEST_FACE_PX, SOFT_PX
from onlooker_client.doctor.picture import measure_focus, measure_noise
from onlooker_pipeline.vision.picture import decode_picture

AGE_WORSE, SHARE_WORSE = 1.25, 0.05
"""Noticeably worse: ages are off by a quarter more, or one in twenty more is missed or misjudged."""
SAMPLED = 12


def limit_figures(axes: Sequence[AxisMap], good: MapCell, portraits: Sequence[SizedPortrait]) -> list[Figure]:
    """Each of doctor's limits, beside what it may be at most or at least; nothing for an axis with few steps."""
    by_name = {one.axis.name: one for one in axes}
    few = portraits[:: max(len(portraits) // SAMPLED, 1)]
    figures = []
    if (blur := _first_worse(by_name["blur_px"])) is not None:
        at_most = float(np.median([measure_focus([p]).blur_px for p in _pictures(few, Condition(blur_px=blur))]))
        note = f"as doctor measures blur of {blur:g} px, from which on pictures are noticeably worse"
        figures.append(Figure("doctor_soft_px", SOFT_PX, at_most=at_most, note=note))
    if (noise := _first_worse(by_name["noise"])) is not None:
        measured = [measure_noise([p]) for p in _pictures(few, Condition(noise=noise, quality=100))]
        at_most = float(np.median([one for one in measured if one is not None]))
        note = f"as doctor measures noise of {noise:g}, from which on pictures are noticeably worse"
        figures.append(Figure("doctor_noisy", NOISY, at_most=at_most, note=note))
    sizes = by_name["face_px"]
    if len(sizes.steps) > 2:
        fits = [px for px, cell in zip(sizes.steps, sizes.near, strict=True) if _is_readable(cell, good)]
        note = (
            "pixels; the smallest face that is found, whose gender is right, and whose age is right more often than not"
        )
        figures.append(Figure("doctor_smallest_face_px", SMALLEST_FACE_PX, at_least=min(fits), note=note))
    return figures


def _first_worse(one: AxisMap) -> float | None:
    """The first step that is noticeably worse than the first of all."""
    best = one.near[0]
    for step, cell in zip(one.steps[1:], one.near[1:], strict=True):
        shares = ((best.found, cell.found), (best.gender_right, cell.gender_right), (best.looking, cell.looking))
        if cell.age_error > AGE_WORSE * best.age_error or any(now < before - SHARE_WORSE for before, now in shares):
            return step
    return None


def _is_readable(cell: MapCell, good: MapCell) -> bool:
    shares = ((good.found, cell.found), (good.gender_right, cell.gender_right))
    return cell.within_ten_years > 0.5 and all(now >= before - SHARE_WORSE for before, now in shares)


def _pictures(portraits: Sequence[SizedPortrait], condition: Condition) -> list[Any]:
    dice = np.random.default_rng(SEED)
    scaled = [at_size(one.pixels, NEAR_PX / one.face_px) for one in portraits]
    return [decode_picture(degrade(picture, condition, dice)) for picture in scaled]
