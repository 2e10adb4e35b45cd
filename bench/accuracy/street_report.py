"""The figures of street sequences with their targets, and the page that tells them."""

from collections.abc import Sequence
from dataclasses import dataclass

from bench.accuracy.scene_report import as_markdown
from bench.accuracy.track_scores import TrackScore, add_scores
from bench.lib.figures import Figure
from bench.lib.product import ROOT

OFF, IDF1, HELD_OUT_OFF = 0.18, 0.70, 0.25
TUNED = ("PETS09-S2L1", "TUD-Campus", "Venice-2")
"""The sequences on which the tracker's constants were chosen."""
PAGE = ROOT / "docs/reference/streets.md"
INTRO = """# Accuracy on streets

Measured by `just accuracy-streets DIR --write` on sequences of the public benchmark MOT15, whose licence allows
research only: nothing of them is part of the repository. Each is played through the pipeline as grey JPEG of quality
80, at most 640 x 480, ten frames a second, with its own times. `passing` is how many visits of a second or more the
product publishes; `people` are those of at least 50 pixels for at least a second. A visit of somebody smaller counts as
one too many (`uncounted`). The error of a count is the sum of the errors of all sequences: one too many here does not
offset one too few there. IDF1 and HOTA are computed by TrackEval, on the places of published visits. A figure without a
target is only reported.
"""


@dataclass(frozen=True)
class StreetScore:
    """One sequence: people and cost."""

    tracks: TrackScore
    searched: float
    cpu_ms: float
    """A frame, from its bytes to its result."""


def street_table(scores: Sequence[TrackScore]) -> list[list[str]]:
    head = ["sequence", "people", "passing", "off", "splits", "switches", "missed", "uncounted", "IDF1", "HOTA"]
    numbers = ("people", "passing", "off", "splits", "switches", "missed", "uncounted")
    rows = [[s.name, *(str(getattr(s, key)) for key in numbers), f"{s.idf1:.3f}", f"{s.mean_hota:.3f}"] for s in scores]
    return [head, *rows]


def summarise_streets(scores: Sequence[StreetScore], bare_ms: float) -> list[Figure]:
    together = add_scores("all", [score.tracks for score in scores])
    cpu_ms = sum(score.cpu_ms for score in scores) / len(scores)
    note = f"{together.passing} of {together.people}, {together.off} off sequence by sequence"
    figures = [
        Figure("people_off", together.off_share, at_most=OFF, note=note),
        Figure("idf1", together.idf1, at_least=IDF1),
        Figure("hota", together.mean_hota),
        Figure("splits", together.splits),
        Figure("switches", together.switches),
        Figure("searched", sum(score.searched for score in scores) / len(scores), note="share of the frames"),
        Figure("cpu_ms_a_frame", cpu_ms, note="mean of the sequences"),
        Figure("bare_inferences_a_frame", cpu_ms / bare_ms, note=f"one takes {bare_ms:.1f} ms here"),
    ]
    return figures + held_out_figures(scores)


def held_out_figures(scores: Sequence[StreetScore]) -> list[Figure]:
    """Of the sequences that had no part in choosing constants."""
    others = [score.tracks for score in scores if score.tracks.name not in TUNED]
    if not others:
        return []
    together = add_scores("held out", others)
    note = f"{together.passing} of {together.people}, {together.off} off sequence by sequence"
    return [
        Figure("held_out_people_off", together.off_share, at_most=HELD_OUT_OFF, note=note),
        Figure("held_out_idf1", together.idf1, note=", ".join(score.name for score in others)),
    ]


def write_street_page(scores: Sequence[StreetScore], figures: Sequence[Figure]) -> None:
    rows = [[f"`{f.name}`", f"{f.value:.3g}", f.target, f.verdict, f.note] for f in figures]
    tracks = [score.tracks for score in scores]
    chosen_on = f"The tracker's constants were chosen on {', '.join(TUNED)}; the other sequences are held out.\n"
    parts = [INTRO, chosen_on, as_markdown([["figure", "value", "target", "", "of"], *rows])]
    parts += ["## Sequence by sequence\n", as_markdown(street_table([*tracks, add_scores("all", tracks)]))]
    PAGE.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
