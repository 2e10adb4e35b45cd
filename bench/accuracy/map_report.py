"""Writes the map as tables and pictures into docs/reference/accuracy.md."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.accuracy.condition_axes import FAR_PX, NEAR_PX, Axis, MapCell, count_readings
from bench.accuracy.diagrams import Panel, draw_panels
from bench.accuracy.page_section import PICTURES, write_section
from bench.accuracy.portrait_readings import PortraitReading
from bench.lib.figures import Figure

HEAD = "| | found | gender right | looking | age off | bias | stated | right | `?` |\n" + "|---" * 9 + "|"
WORST_AGE_YEARS = 20.0
COLUMNS = 3
INTRO = """## Where it works

Measured by `just accuracy-map --utkface DIR --write` on {faces} portraits and photographs and on frames of the clips,
each made worse in one way: scaled so that the face has a height of {near:g} or {far:g} pixels, and sent as grey JPEG of
quality 80. *Age off* is the mean error in years, *bias* its mean with sign; *stated* is the mean `age_confidence`,
*right* the share of ages that are right within ten years, `?` the share of faces whose age is only a guess. *Looking*
is the share of people who look at the camera and are judged so.

![Shares of faces found, genders right and looks seen, as pictures get worse.](../pictures/accuracy/map-shares.svg)

![Mean errors of ages over the same.](../pictures/accuracy/map-ages.svg)

What an installer should take from it, and what `onlooker-agent doctor` [warns of](../guides/doctor.md):
"""
GROUPS_INTRO = """### By group of people

Faces of UTKFace, {count} of them, chosen evenly over decades, genders and ethnic groups, {near:g} pixels high, in good
condition. The labels of the set name five groups. The age network was trained on this set, so ages of people it has
never seen are worse. The set is for research only: none of it is in this repository.
"""


@dataclass(frozen=True)
class AxisMap:
    """One axis, step by step: near and far faces, and the share of right verdicts on looking in clips."""

    axis: Axis
    steps: Sequence[float]
    near: Sequence[MapCell]
    far: Sequence[MapCell]
    clips: Sequence[float]


@dataclass(frozen=True)
class ConditionMap:
    """Everything that was measured."""

    good: MapCell
    axes: Sequence[AxisMap]
    groups: Sequence[PortraitReading]
    limits: Sequence[Figure]


def publish(measured: ConditionMap) -> None:
    _draw_shares(measured)
    _draw_ages(measured)
    intro = INTRO.format(faces=measured.good.faces, near=NEAR_PX, far=FAR_PX)
    write_section("map", "\n".join([intro, _limits(measured.limits), *tables(measured)]))


def tables(measured: ConditionMap) -> list[str]:
    """One for each axis, and one of the groups."""
    parts = []
    for one in measured.axes:
        parts += [f"### {one.axis.title}\n", HEAD]
        is_size = not one.far
        for i, step in enumerate(one.steps):
            parts.append(_row(f"{step:g}" if is_size else f"{step:g}, faces of {NEAR_PX:g}", one.near[i]))
            if one.far:
                parts.append(_row(f"{step:g}, faces of {FAR_PX:g}", one.far[i]))
        if one.clips:
            shares = ", ".join(
                f"{_percent(share)} at {step:g}" for step, share in zip(one.steps, one.clips, strict=True)
            )
            parts.append(f"\nVerdicts on looking that are right in frames of the clips: {shares}.")
        parts.append("")
    return [*parts, *_group_tables(measured.groups)] if measured.groups else parts


def _group_tables(readings: Sequence[PortraitReading]) -> list[str]:
    parts = [GROUPS_INTRO.format(count=len(readings), near=NEAR_PX)]
    kinds: dict[str, Callable[[PortraitReading], str]] = {
        "Age": lambda r: f"{min(int(r.portrait.age_years // 10 * 10), 80)} to {_last_year(r)}",
        "Gender": lambda r: r.portrait.gender,
        "Ethnic group": lambda r: str(r.portrait.group),
        "Ethnic group and gender, from 15 years on": lambda r: f"{r.portrait.group}, {r.portrait.gender}",
    }
    for title, name_of in kinds.items():
        chosen = [r for r in readings if r.portrait.age_years >= 15 or "15" not in title]
        parts += [f"#### {title}\n", HEAD.replace(" looking |", "").replace("|---", "", 1)]
        for name in sorted({name_of(r) for r in chosen}, key=_by_number):
            members = [r for r in chosen if name_of(r) == name]
            parts.append(_row(f"{name} ({len(members)})", count_readings(members), with_looking=False))
        parts.append("")
    return parts


def _last_year(reading: PortraitReading) -> str:
    decade = int(reading.portrait.age_years // 10 * 10)
    return str(decade + 9) if decade < 80 else "116"


def _by_number(name: str) -> tuple[int, str]:
    first = name.split(maxsplit=1)[0]
    return (int(first), name) if first.isdigit() else (0, name)


def _row(name: str, cell: MapCell, *, with_looking: bool = True) -> str:
    looking = f" {_percent(cell.looking)} |" if with_looking else ""
    ages = f"{_years(cell.age_error)} | {_years(cell.age_bias, signed=True)}"
    trust = f"{_percent(cell.age_confidence)} | {_percent(cell.within_ten_years)} | {_percent(cell.age_unknown)}"
    return f"| {name} | {_percent(cell.found)} | {_percent(cell.gender_right)} |{looking} {ages} | {trust} |"


def _percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.0f} %"


def _years(years: float, *, signed: bool = False) -> str:
    if math.isnan(years):
        return ""
    return f"{years:+.1f}" if signed else f"{years:.1f}"


def _limits(limits: Sequence[Figure]) -> str:
    rows = [f"| `{f.name}` | {f.value:g} | {f.target} | {f.verdict} | {f.note} |" for f in limits]
    return "\n".join(["| limit | value | may be | | of |", "|---|---|---|---|---|", *rows, ""])


def _draw_shares(measured: ConditionMap) -> None:
    panels = []
    for one in measured.axes:
        lines = {
            "found": [_in_percent(cell.found) for cell in one.near],
            "gender right": [_in_percent(cell.gender_right) for cell in one.near],
            "looking": [_in_percent(cell.looking) for cell in one.near],
        }
        if one.far:
            lines[f"found, {FAR_PX:g} px"] = [_in_percent(cell.found) for cell in one.far]
        steps = [f"{step:g}" for step in one.steps]
        panels.append(Panel(one.axis.title, steps, lines, lowest=0, highest=100, unit=" %"))
    title = f"Shares of faces; {NEAR_PX:g} pixels high unless stated"
    draw_panels(PICTURES / "map-shares.svg", title, panels, columns=COLUMNS)


def _draw_ages(measured: ConditionMap) -> None:
    panels = []
    for one in measured.axes:
        lines = {f"faces of {NEAR_PX:g} px": [_or_none(cell.age_error) for cell in one.near]}
        if one.far:
            lines[f"faces of {FAR_PX:g} px"] = [_or_none(cell.age_error) for cell in one.far]
        steps = [f"{step:g}" for step in one.steps]
        panels.append(Panel(one.axis.title, steps, lines, lowest=0, highest=WORST_AGE_YEARS))
    draw_panels(PICTURES / "map-ages.svg", "Mean error of ages in years", panels, columns=COLUMNS)


def _in_percent(share: float) -> float | None:
    return None if math.isnan(share) else 100 * share


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
