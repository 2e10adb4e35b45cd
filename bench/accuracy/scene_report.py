"""The figures of all scenes together, each with its target; and a table with a line a scene."""

import math
import statistics
from collections.abc import Callable, Iterable, Sequence

from bench.accuracy.visit_scores import ClipScore, Looking, PersonScore
from bench.lib.figures import Figure
from bench.lib.product import ROOT

COUNT_ERROR = 0.05
SCENE_ERROR = 0.10
TIME_ERROR_S = 0.5
LOOKING = 0.9
SWITCHES_A_PERSON = 1 / 20
SEEN_FROM_BEHIND = "intel_one_by_one"


def summarise(scores: Sequence[ClipScore]) -> list[Figure]:
    """What the issue asks of the scenes as they are, without any frame left out."""
    counted = [score for score in scores if score.passing_true is not None]
    people = sum(score.people for score in scores)
    changes = sum(score.switches + score.splits for score in scores)
    return [
        _count_error("passing_error", [(s.passing, s.passing_true or 0) for s in counted]),
        _worst_scene(counted),
        _count_error("interested_error", [(s.interested, s.interested_true or 0) for s in counted]),
        _time_error("stop_time_error_s", scores, lambda person: person.stop_error_s),
        _time_error("attention_time_error_s", scores, lambda person: person.attention_error_s),
        *_looking(scores),
        Figure(
            "switches_and_splits_per_person",
            changes / people if people else float("nan"),
            at_most=SWITCHES_A_PERSON,
            note=f"{sum(s.switches for s in scores)} switches, {sum(s.splits for s in scores)} splits, {people} people",
        ),
        *_only_from_behind(scores),
        *_nobody_looks(scores),
        Figure("persons_missed", sum(len(s.missed) for s in scores), note="who should have a visit and have none"),
        Figure("visits_of_nobody", sum(len(s.false) for s in scores), note="of a second or more"),
        Figure("interest_judged_wrongly", sum(len(s.wrong_verdicts) for s in scores), note="of matched people"),
    ]


def compare_counts(variant: str, scores: Sequence[ClipScore], undisturbed: Sequence[ClipScore]) -> list[Figure]:
    """How far the counts of all scenes together move when frames are missing or times are off."""
    figures = []
    for kind in ("passing", "interested"):
        now, before = (
            sum(getattr(s, kind) for s in some if s.passing_true is not None) for some in (scores, undisturbed)
        )
        moved = abs(now - before) / before if before else float(now != before)
        note = f"{now} instead of {before}"
        figures.append(Figure(f"{kind}_change_{variant}", moved, at_most=COUNT_ERROR, note=note))
    return figures


def clip_table(scores: Sequence[ClipScore]) -> list[list[str]]:
    """A line a scene, after a line of names."""
    head = ["scene", "people", "passing", "interested", "stop s", "attention s", "precision", "recall", "switches"]
    return [[*head, "splits", "missed", "nobody's"], *(_line(score) for score in scores)]


def as_text(table: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)) for line in table)


def as_markdown(table: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(line)} |" for line in table]
    return "\n".join([lines[0], "|---" * len(table[0]) + "|", *lines[1:]]) + "\n"


def _line(score: ClipScore) -> list[str]:
    def told(value: float) -> str:
        return "" if math.isnan(value) else f"{value:.2f}"

    def of(found: int, true: int | None) -> str:
        return f"{found}" if true is None else f"{found} of {true}"

    stop = _mean_error(person.stop_error_s for person in score.persons)
    attention = _mean_error(person.attention_error_s for person in score.persons)
    return [
        score.name,
        str(score.people),
        of(score.passing, score.passing_true),
        of(score.interested, score.interested_true),
        told(stop),
        told(attention),
        told(score.looking.precision),
        told(score.looking.recall),
        *(str(n) for n in (score.switches, score.splits, len(score.missed), len(score.false))),
    ]


def _count_error(name: str, counts: Sequence[tuple[int, int]]) -> Figure:
    """Of all scenes together; one too many here does not make up for one too few there."""
    off = sum(abs(found - true) for found, true in counts)
    found, true = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    value = off / true if true else float("nan") if not counts else float(off > 0)
    return Figure(name, value, at_most=COUNT_ERROR, note=f"{found} of {true}, {off} off scene by scene")


def _worst_scene(scores: Sequence[ClipScore]) -> Figure:
    """Scenes that are off by more than one person and by more than a tenth."""
    off = {s.name: abs(s.passing - (s.passing_true or 0)) for s in scores}
    beyond = [s.name for s in scores if off[s.name] > max(1, SCENE_ERROR * (s.passing_true or 0))]
    return Figure("scenes_far_off", len(beyond), at_most=0, note=", ".join(beyond) or f"worst: {max(off.values())} off")


def _time_error(name: str, scores: Sequence[ClipScore], error: Callable[[PersonScore], float | None]) -> Figure:
    errors = [error(person) for score in scores for person in score.persons]
    known = [value for value in errors if value is not None]
    worst = max(known, key=abs, default=float("nan"))
    bias = statistics.fmean(known) if known else float("nan")
    note = f"mean over {len(known)} people; on average {bias:+.2f}, worst {worst:+.2f}"
    return Figure(name, _mean_error(known), at_most=TIME_ERROR_S, note=note)


def _mean_error(errors: Iterable[float | None]) -> float:
    known = [abs(error) for error in errors if error is not None]
    return statistics.fmean(known) if known else float("nan")


def _looking(scores: Sequence[ClipScore]) -> list[Figure]:
    together = sum((score.looking for score in scores), Looking())
    note = f"tenths of a second: {together.right} right, {together.wrong} wrong, {together.missed} missed"
    return [
        Figure("looking_precision", together.precision, at_least=LOOKING, note=note),
        Figure("looking_recall", together.recall, at_least=LOOKING, note=note),
    ]


def _only_from_behind(scores: Sequence[ClipScore]) -> list[Figure]:
    found = next((score for score in scores if score.name == SEEN_FROM_BEHIND), None)
    if found is None:
        return []
    return [
        Figure("from_behind_passing", found.passing, at_least=6, at_most=6, note=found.name),
        Figure("from_behind_interested", found.interested, at_most=0, note=found.name),
    ]


def _nobody_looks(scores: Sequence[ClipScore]) -> list[Figure]:
    """Scenes without a person's labels say only that nobody looks."""
    unlabelled = [score for score in scores if score.people == 0 and score.passing_true is None]
    if not unlabelled:
        return []
    note = ", ".join(f"{s.name}: {s.looking_of_nobody_s:.1f} s of looks" for s in unlabelled)
    return [Figure("interested_where_nobody_looks", sum(s.interested for s in unlabelled), at_most=0, note=note)]


PAGE = ROOT / "docs/reference/scenes.md"
INTRO = """# Accuracy of visits

Measured by `just accuracy-scenes --write` on filmed and composed scenes with ground truth that are not part of the
repository. Each is played through a running gateway and two workers, as grey JPEG of quality 80 and at most 640 x 480,
with its own timestamps, and the visits are read from PostgreSQL. A figure without a target is only reported.
"""
COUNTED = """
In a composed scene, a visit is matched to the person at whose position it was seen most; in a filmed one, to the person
whose times it shares most. Labels that the reviewer of a clip was not sure of are left out. The error of a count is the
sum of the errors of all scenes: one too many in one scene does not offset one too few in another. Every change of a
person's id counts as a switch, every additional visit of a second or more of the same person as a split.
"""


def write_page(scores: Sequence[ClipScore], figures: Sequence[Figure], caveat: str) -> None:
    rows = [[f"`{f.name}`", f"{f.value:.3g}", f.target, f.verdict, f.note] for f in figures]
    table = as_markdown([["figure", "value", "target", "", "of"], *rows])
    parts = [INTRO, caveat, COUNTED, "## All scenes together\n", table, "## Scene by scene\n"]
    parts.append(
        "Found of true. The seconds are mean absolute errors of matched people; precision and recall refer to "
        "looking.\n"
    )
    parts.append(as_markdown(clip_table(scores)))
    PAGE.write_text("\n".join(parts).rstrip() + "\n", encoding="utf-8")
