"""Charts are readable in light and dark, in grey, and with words at least as well as the guidelines ask."""

import itertools
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[3] / "server/style/_charts.scss"
GROUNDS = {"light": "#ffffff", "dark": "#181c25"}
"""Pico's cards."""
RINGS = [("female", "male"), ("senior-female", "senior-male", "young-female", "young-male")]
TOLD_APART = 8
"""Steps of lightness, of which there are 100 from black to white."""


def luminance(colour: str) -> float:
    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(colour[start : start + 2]) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def lightness(colour: str) -> float:
    return 116 * luminance(colour) ** (1 / 3) - 16


def contrast(one: str, other: str) -> float:
    darker, brighter = sorted((luminance(one), luminance(other)))
    return (brighter + 0.05) / (darker + 0.05)


@pytest.fixture(params=GROUNDS)
def colours(request):
    block = re.search(rf"@mixin {request.param} \{{(.*?)\}}", SOURCE.read_text(), re.DOTALL)
    assert block
    return {"ground": GROUNDS[request.param], **dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block[1]))}


@pytest.mark.parametrize("row", range(1, 6))
def test_lines_of_rows_stand_out_from_their_ground(colours, row):
    assert contrast(colours[f"row-{row}"], colours["ground"]) >= 3


@pytest.mark.parametrize("name", ["passing-by", "beside", "ghost", "unknown", *itertools.chain(*RINGS)])
def test_what_is_drawn_stands_out_from_its_ground(colours, name):
    assert contrast(colours[name], colours["ground"]) >= 3


def test_interested_stand_out_from_those_who_pass_by(colours):
    assert contrast(colours["interested"], colours["passing-by"]) >= 3


def test_words_are_readable(colours):
    assert contrast(colours["chart-ink"], colours["ground"]) >= 4.5
    assert contrast(colours["noted"], colours["ground"]) >= 4.5
    assert contrast(colours["tip-ink"], colours["tip-ground"]) >= 4.5


@pytest.mark.parametrize("parts", RINGS)
def test_parts_of_a_ring_are_told_apart_in_grey(colours, parts):
    steps = sorted(lightness(colours[part]) for part in parts)
    assert all(after - before >= TOLD_APART for before, after in itertools.pairwise(steps))


def test_more_people_are_ever_further_from_nobody_in_grey(colours):
    steps = [lightness(colours[f"heat-{number}"]) for number in range(6)]
    away = [abs(step - steps[0]) for step in steps]
    assert all(after - before >= TOLD_APART for before, after in itertools.pairwise(away))
