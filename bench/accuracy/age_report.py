"""Writes how ages fare on two sets, with and without their part in the fit, into docs/reference/accuracy.md."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from bench.accuracy.age_correction import CLEAR, JudgedReading, judge
from bench.accuracy.age_scores import CALIBRATED, JUDGED_DECADES, bias_by_decade, summarise
from bench.accuracy.page_section import write_section
from bench.lib.degradation import GOOD
from onlooker_pipeline.vision.age_and_gender import CORRECTION, DETAILS, READINGS_YEARS

SETS = {"portraits": "portraits", "utkface": "UTKFace"}
UNSEEN = "unseen"
UNSEEN_OF = {"utkface": UNSEEN}
"""The set with the faces of another that were only judged."""
BEFORE = {
    "not_corrected": replace(CORRECTION, ages_years=READINGS_YEARS, missing_years=(0.0,) * len(DETAILS)),
    "constant": replace(
        CORRECTION,
        ages_years=(READINGS_YEARS[0], *(years + 5.9 for years in READINGS_YEARS[1:])),
        missing_years=(0.0,) * len(DETAILS),
    ),
}
"""What the pipeline had before, for comparison."""
WAYS = {
    "not_corrected": "as the network reads them",
    "constant": "with one constant from 25 years on, +5.9, as before",
    "part_of_the_fit": "had a part in the fit",
    "other_people": "fitted on the other half of the people",
    "other_set": "fitted on the other set alone",
    "looked_at_once": "other faces, looked at once, when all was chosen",
}
INTRO = """## Ages on two sets

Measured by `just age-fit --utkface DIR --write` on {portraits} official portraits and on {utkface} faces of UTKFace,
chosen evenly over decades, genders and ethnic groups, as grey JPEG of quality 80. Ages are those of faces that are
{good:g} and 160 pixels high; a band is one of the seven of the metric `age`, of faces whose age is not `?`. The age
network was trained on UTKFace, so that set flatters the network, not the correction. Both sets count alike in the fit.
How much means and single errors count in it, and how much of a face's detail noise hides, were chosen with both sets in
view; nearly all of the faces looked at once had no part in that either.
"""


def publish(ways: Mapping[str, Sequence[JudgedReading]]) -> None:
    own = ways["part_of_the_fit"]
    labelled = [j.labelled for j in own]
    ways = {name: judge(labelled, correction) for name, correction in BEFORE.items()} | dict(ways)
    people = {name: len({j.labelled.person for j in own if j.labelled.set_name == name}) for name in SETS}
    parts = [INTRO.format(good=GOOD.face_px, **people), _error_table(ways), _bias_table(ways), _trust_table(ways)]
    write_section("ages", "\n".join(parts))


def _rows(ways: Mapping[str, Sequence[JudgedReading]]) -> Iterator[tuple[str, list[JudgedReading]]]:
    """Clear faces of each set, judged in each way, with the beginning of their row."""
    for set_name, title in SETS.items():
        for way, words in WAYS.items():
            own = set_name if way != "looked_at_once" else UNSEEN_OF.get(set_name)
            clear = [j for j in ways.get(way, ()) if j.labelled.set_name == own and j.labelled.condition in CLEAR]
            if clear:
                yield f"| {title} | {words} |", clear


def _error_table(ways: Mapping[str, Sequence[JudgedReading]]) -> str:
    rows = [
        "| set | | mean error | bias | worst decade, 20 to 69 | right band | of 15 to 24 | `?` |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for beginning, clear in _rows(ways):
        told = summarise(clear)
        rows.append(
            f"{beginning} {told['mean_absolute_error']:.1f} years | {told['bias']:+.1f} | {told['worst_bias']:.1f} | "
            f"{told['right_band']:.0%} | {told['right_young_band']:.0%} | {told['unknown']:.0%} |".replace(
                "%", " %"
            ).replace("nan %", "")
        )
    return "\n".join([*rows, ""])


def _bias_table(ways: Mapping[str, Sequence[JudgedReading]]) -> str:
    decades = list(JUDGED_DECADES)
    rows = [
        f"| bias by decade | | {' | '.join(f'{decade} to {decade + 9}' for decade in decades)} |",
        f"|---|---|{'---|' * len(decades)}",
    ]
    for beginning, clear in _rows(ways):
        biases = bias_by_decade(clear)
        cells = [f"{biases[decade]:+.1f}" if decade in biases else "" for decade in decades]
        rows.append(f"{beginning} {' | '.join(cells)} |")
    return "\n".join([*rows, ""])


def _trust_table(ways: Mapping[str, Sequence[JudgedReading]]) -> str:
    """Of people who had no part in the fit."""
    rows = [
        f"| confidence: stated, right | | {' | '.join(CALIBRATED)} |",
        f"|---|---|{'---|' * len(CALIBRATED)}",
    ]
    shown = [("portraits", "other_people"), ("utkface", "other_people"), (UNSEEN, "looked_at_once")]
    for set_name, way in shown:
        if way not in ways:
            continue
        cells = []
        for condition in CALIBRATED:
            own = [j for j in ways[way] if j.labelled.set_name == set_name and j.labelled.condition == condition]
            cells.append(f"{np.mean([j.confidence for j in own]):.2f}, {np.mean([j.is_within for j in own]):.2f}")
        rows.append(f"| {SETS.get(set_name, SETS['utkface'])} | {WAYS[way]} | {' | '.join(cells)} |")
    return "\n".join([*rows, ""])
