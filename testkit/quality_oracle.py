"""How well frames could be looked at in any time, slot by slot in plain Python: slow, and plainly right."""

from dataclasses import dataclass, fields

SECOND_US = 1_000_000
SLOT_US = 900 * SECOND_US


@dataclass(frozen=True)
class SlotQuality:
    """What the table has of a slot and a version."""

    frames: int
    video_s: float
    dark_frames: int
    face_frames: int
    face_video_s: float
    faces: tuple[int, ...]


QualityLog = dict[tuple[int, str, str], SlotQuality]
"""By the first microsecond of the slot, the version of the models and that of the pipeline."""
Told = dict[str, float | int | str | None]


def expect_quality(log: QualityLog, begins_us: int, ends_us: int, *, now_us: int) -> Told:
    """The members of `quality` that frames make up; a slot that is cut counts in proportion."""
    ends_us = min(ends_us, now_us)
    found = sorted((key, _share(key[0], begins_us, ends_us, now_us)) for key in log)
    shares = {key: share for key, share in found if share > 0}
    sums = {
        one.name: sum(share * getattr(log[key], one.name) for key, share in shares.items())
        for one in fields(SlotQuality)
        if one.name != "faces"
    }
    sizes = sorted(
        (number, share * count) for key, share in shares.items() for number, count in enumerate(log[key].faces)
    )
    return {
        "fps": _ratio(sums["frames"], sums["video_s"]),
        "face_fps": _ratio(sums["face_frames"], sums["face_video_s"]),
        "face_px": _median(sizes),
        "dark": _ratio(sums["dark_frames"], sums["frames"]),
        "models": _names([key[1] for key in shares]),
        "pipeline": _names([key[2] for key in shares]),
    }


def _share(slot_us: int, begins_us: int, ends_us: int, now_us: int) -> float:
    lasted_us = min(SLOT_US, now_us - slot_us)
    inside_us = min(ends_us, slot_us + SLOT_US) - max(begins_us, slot_us)
    return max(inside_us, 0) / lasted_us if lasted_us > 0 else 0.0


def _ratio(one: float, other: float) -> float | None:
    return one / other if other else None


def _median(sizes: list[tuple[int, float]]) -> int | None:
    """Of the faces in order of size, the one in the middle; bins are a third of a doubling wide, from 10 pixels on."""
    total = sum(weight for _, weight in sizes)
    left = total / 2
    for number, weight in sizes:
        left -= weight
        if weight and left <= 1e-9 * total:
            return round(10 * 2 ** (number / 3 + 1 / 6))
    return None


def _names(versions: list[str]) -> str | None:
    return ",".join(dict.fromkeys(versions)) or None
