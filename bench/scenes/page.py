"""Writes the figures where people read them: docs/reference/scenes.md."""

from collections.abc import Sequence

from bench.accuracy.figures import Figure
from bench.product import ROOT
from bench.scenes.scoring import ClipScore
from bench.scenes.summary import as_markdown, clip_table

PAGE = ROOT / "docs/reference/scenes.md"
INTRO = """# Accuracy of visits

Measured by `just accuracy-scenes --write` on filmed and drawn scenes with ground truth that are not part of the
repository. Each is played through a running gateway and two workers, as grey JPEG of quality 80 and at most 640 x 480,
with its own timestamps, and the visits are read from PostgreSQL. A figure without a target is only told.
"""
COUNTED = """
In a drawn scene a visit belongs to the person in whose place it was seen most, in a filmed one to the person whose
times it shares most. What the reviewer of a clip was not sure of is left out. A count is off by the sum over all
scenes of what each is off: one too many here does not make up for one too few there. Every change of a person's id
counts as a switch, every further visit of a second or more of the same person as a split.
"""


def write_page(scores: Sequence[ClipScore], figures: Sequence[Figure], caveat: str) -> None:
    rows = [[f"`{f.name}`", f"{f.value:.3g}", f.target, f.verdict, f.note] for f in figures]
    table = as_markdown([["figure", "value", "target", "", "of"], *rows])
    parts = [INTRO, caveat, COUNTED, "## All scenes together\n", table, "## Scene by scene\n"]
    parts.append(
        "Found of true; the seconds are mean absolute errors of matched people; precision and recall are of looking.\n"
    )
    parts.append(as_markdown(clip_table(scores)))
    PAGE.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
