"""Cameras of a world: when they watched, what was refused, and when their streams were switched on and off."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from hypothesis import strategies as st

from onlooker.database import Pool
from onlooker.metrics.coverage import Absence
from testkit.coverage_oracle import COVERED, SECOND_US, SLOT_US, CameraLog, ShopHours, expect_coverage, slot_of
from testkit.quality_oracle import SlotQuality, expect_quality
from testkit.worlds.clocks import moment_at

Draw = Callable[[st.SearchStrategy[Any]], Any]

VIDEOS_S = (0.5, 250.0, 600.5, 900.0, 900.0, 1700.0)
REFUSALS = ("overloaded", "bad_image", "stream_disabled")
FAULTS = ("black", "dark", "frozen")
VERSIONS = (("0.1.0", "0.1.0"), ("0.2.0", "0.1.0"), ("0.2.0", "0.2.0"))
QUALITIES = (
    SlotQuality(9000, 900.0, 0, 0, 0.0, (0,) * 16),
    SlotQuality(5000, 700.5, 5000, 3000, 300.25, (0, 0, 0, 0, 7, 900, 1500, 600, 0, 0, 0, 0, 0, 0, 0, 1)),
    SlotQuality(12, 11.5, 3, 2, 1.5, (1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)),
    SlotQuality(1, 0.25, 1, 1, 0.25, (0,) * 15 + (3,)),
)
STATES = ("enabled", "disabled", "quota")
HOURS_ZONES = ("UTC", "Europe/Paris", "Asia/Kolkata", "America/St_Johns", "Australia/Lord_Howe")
OFFICE = ShopHours("mo-fr 09:00-18:30, sa 10:00-16:00", (((540, 1110),),) * 5 + (((600, 960),), ()))
BAR = ShopHours("mo-su 00:00-02:30, 22:00-24:00", (((1320, 1590),),) * 7)
SIESTA = ShopHours("we 08:15-12:45, 14:00-19:15", ((), (), ((495, 765), (840, 1155)), (), (), (), ()))
ALWAYS = ShopHours("", ((),) * 7)
HOURS = (OFFICE, BAR, SIESTA, ALWAYS)
"""Opening hours; a bar's evening belongs to the next day from midnight on."""
NEAR_SLOTS = (-96, -5, -4, -3, -2, -1, 0, 0, 0, 1, 2, 3, 4, 5, 96)
NEAR_US = (-SLOT_US, -450 * SECOND_US, -1, 0, 0, 1, 7 * SECOND_US + 5, 3600 * SECOND_US, 86_400 * SECOND_US)
SECONDS_APART = 2e-3
"""Seconds have three decimals."""
SHARE_APART = 1e-5
NOTHING_S = 1e-6
FPS_APART = 6e-3
"""Frames a second have two decimals."""

_INSERTS = {
    "INSERT INTO streams_coverage (stream_id, slot_at, video_s) VALUES (%s, %s, %s)": "videos",
    "INSERT INTO streams_refusal (stream_id, slot_at, reason, frames) VALUES (%s, %s, %s, 7)": "refusals",
    "INSERT INTO streams_blindness (stream_id, slot_at, fault, video_s) VALUES (%s, %s, %s, %s)": "blind",
    "INSERT INTO streams_statechange (stream_id, at, state) VALUES (%s, %s, %s)": "states",
}
_INSERT_HOURS = "INSERT INTO streams_openinghours (stream_id, since_at, hours, time_zone) VALUES (%s, %s, %s, %s)"
_INSERT_QUALITY = """INSERT INTO streams_quality (stream_id, slot_at, models_version, pipeline_version,
    frames, video_s, dark_frames, face_frames, face_video_s, faces) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""


@st.composite
def camera_logs(draw: Draw, moments_ms: list[int]) -> CameraLog:
    """Mostly around some moments, and right at the edges of slots."""
    moments = st.sampled_from(moments_ms).map(lambda at_ms: at_ms * 1000)
    slots = st.tuples(moments, st.sampled_from(NEAR_SLOTS)).map(lambda pair: slot_of(pair[0]) + pair[1] * SLOT_US)
    near = st.tuples(st.one_of(moments, slots), st.sampled_from(NEAR_US)).map(sum)
    return CameraLog(
        created_us=draw(st.one_of(st.just(0), st.just(0), near)),
        known_us=draw(st.one_of(st.just(0), st.just(0), slots)),
        videos=draw(st.dictionaries(slots, st.sampled_from(VIDEOS_S), max_size=8)),
        refusals=draw(st.dictionaries(slots, st.sampled_from(REFUSALS), max_size=4)),
        blind=draw(st.dictionaries(st.tuples(slots, st.sampled_from(FAULTS)), st.sampled_from(VIDEOS_S), max_size=3)),
        quality={
            (slot, *versions): quality
            for (slot, versions), quality in draw(
                st.dictionaries(st.tuples(slots, st.sampled_from(VERSIONS)), st.sampled_from(QUALITIES), max_size=5)
            ).items()
        },
        states=draw(st.dictionaries(near, st.sampled_from(STATES), max_size=5)),
        hours=draw(st.one_of(st.just({}), st.just({}), st.dictionaries(near, shop_hours(), max_size=3))),
    )


def shop_hours() -> st.SearchStrategy[ShopHours]:
    zones = st.sampled_from(HOURS_ZONES)
    return st.tuples(st.sampled_from(HOURS), zones).map(lambda pair: replace(pair[0], zone=pair[1]))


async def write_log(pool: Pool, stream_id: int, log: CameraLog) -> None:
    """What a gateway and a console would have written."""
    async with pool.connection() as connection, connection.cursor() as cursor:
        for statement, member in _INSERTS.items():
            told = sorted(getattr(log, member).items())
            rows = [
                (stream_id, moment_at(at[0]), at[1], value)
                if isinstance(at, tuple)
                else (stream_id, moment_at(at), value)
                for at, value in told
            ]
            await cursor.executemany(statement, rows)
        seen = [(stream_id, moment_at(key[0]), *key[1:], *_cells(one)) for key, one in log.quality.items()]
        await cursor.executemany(_INSERT_QUALITY, seen)
        versions = [(stream_id, moment_at(at), one.text, one.zone) for at, one in log.hours.items()]
        await cursor.executemany(_INSERT_HOURS, versions)
        row = (moment_at(log.created_us), moment_at(log.known_us) if log.known_us else None, stream_id)
        await cursor.execute("UPDATE streams_stream SET created_at = %s, coverage_since = %s WHERE id = %s", row)


def _cells(quality: SlotQuality) -> list[object]:
    return [list(value) if isinstance(value, tuple) else value for value in vars(quality).values()]


def expect_extensions(log: CameraLog, begins_us: int, ends_us: int, counted: dict[str, Any]) -> dict[str, Any]:
    """The values of `watched`, `gaps` and `quality` in a bucket of which visits say this."""
    now_us = int(datetime.now().timestamp()) * SECOND_US
    found = expect_coverage(log, begins_us, ends_us, now_us=now_us)
    seen = expect_quality(log.quality, begins_us, ends_us, now_us=now_us)
    versions = {name: seen.pop(name) for name in ("models", "pipeline")}
    read = {
        f"{name}_read": _known_share(counted[metric])
        for name, metric in (("age", "age"), ("gender", "gender"), ("expression", "emotion"))
    }
    return coverage_values(found, (ends_us - begins_us) / SECOND_US) | {"quality": seen | read | versions}


def coverage_values(found: dict[str, float], length_s: float) -> dict[str, Any]:
    """The values of `watched` and `gaps`, of seconds by absence and of those that were covered."""
    missing = {why: seconds for why, seconds in found.items() if why != COVERED}
    covered_s, closed_s = found.get(COVERED, 0.0), missing.get(Absence.CLOSED, 0.0)
    open_s = 0.0 if closed_s and length_s - closed_s <= NOTHING_S else length_s - closed_s
    share = None if Absence.UNKNOWN in missing or not open_s else covered_s / open_s
    return {
        "watched": {"value": covered_s, "share": share},
        "gaps": {absence.value: missing.get(absence, 0.0) for absence in Absence},
    }


def _known_share(parts: dict[str, int]) -> float | None:
    known = sum(count for part, count in parts.items() if part != "?")
    return known / (known + parts["?"]) if any(parts.values()) else None


def is_same_coverage(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Both have the same parts in the same order, and hardly differ."""
    return list(found) == list(wanted) and all(_is_near(part, found[part], wanted[part]) for part in wanted)


def is_same_quality(found: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """The same, except that frames a second and shares are rounded."""
    apart = {"fps": FPS_APART, "face_fps": FPS_APART, "face_px": 0, "models": 0, "pipeline": 0}
    return list(found) == list(wanted) and all(
        _is_close(found[part], wanted[part], apart.get(part, SHARE_APART)) for part in wanted
    )


def _is_close(one: Any, other: Any, apart: float) -> bool:
    return bool(one == other or (None not in (one, other) and apart and abs(one - other) <= apart))


def _is_near(part: str, one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= (SHARE_APART if part == "share" else SECONDS_APART)
