"""The metrics, one declaration each: the figures a slot keeps for a metric, and how they make up the answer."""

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from onlooker.sentences import gettext_noop
from onlooker_pipeline.expressions import EXPRESSIONS

SHORTEST_PRESENCE_S = 1
GENDER_KNOWN_ABOVE = 0.5
"""Confidence goes from 0, a coin toss, to 1; a child's is at most 0.5."""
AGE_KNOWN_ABOVE = 0.5
"""Confidence is the probability of an error of at most ten years. An age with a lower one is a guess."""
AGE_BANDS = {"0-14": 0, "15-24": 15, "25-34": 25, "35-44": 35, "45-54": 45, "55-64": 55, "65+": 65}
"""The lowest age of each band."""
DIGITS = 6
"""Decimals of a mean."""
UNKNOWN = "?"
EMOTIONS = EXPRESSIONS
_TOLD = "interested AND NOT grouped"
"""Of people whose slot is grouped nothing is told one by one."""

Number = int | float | None
Figures = Sequence[int]
Value = dict[str, Number]


class Unit(enum.StrEnum):
    """What a metric's value is."""

    PEOPLE = "people"
    SECONDS = "seconds"
    SHARE = "share"
    """From 0 to 1."""
    PARTS = "parts"
    """Counts of people by name."""
    VARIOUS = "various"
    """Each part has its own."""


@dataclass(frozen=True)
class Metric:
    """A metric of the visits of a slot or a bucket.

    A figure is a sum that can be added up over slots: a column of `metrics_slot`, and the SQL that computes it from
    judged visits. sql/judged_visits.sql has their columns.
    """

    name: str
    title: str
    """As dashboard and `onlooker-agent analyse` show it."""
    unit: Unit
    meaning: str
    figures: Mapping[str, str]
    answer: Mapping[str, str]
    """Each part of the answer, as Python, for `str.format`: the figures are {0}, {1} and so on, in their order."""
    scale: float = 1.0
    """What the first figure of a mean is divided by to be in the metric's unit."""

    @cached_property
    def shape(self) -> Callable[[Figures], Value]:
        """Turns the figures into the answer."""
        return _compile(self.answer_from(0))

    def answer_from(self, place: int) -> str:
        """The answer, as Python, of figures that begin at a place in their row."""
        figures = [f"row[{place + number}]" for number in range(len(self.figures))]
        return f"{{{', '.join(f'{part!r}: {text.format(*figures)}' for part, text in self.answer.items())}}}"

    @property
    def is_of_interested(self) -> bool:
        """Whether nobody else counts in any of its figures, as their SQL says."""
        conditions = ("(WHERE interested)", "(WHERE interested AND ")
        return all(any(condition in made for condition in conditions) for made in self.figures.values())


def _compile(answer: str) -> Callable[[Figures], Any]:
    compiled: Callable[[Figures], Any] = eval(f"lambda row: {answer}")  # noqa: S307 (of what is declared below)
    return compiled


def _count(condition: str) -> str:
    return f"count(*) FILTER (WHERE {condition})"


def _microseconds(interval: str) -> str:
    """The sum of an interval over people who are told about, as a whole number, so that sums stay exact."""
    return f"(extract(epoch FROM coalesce(sum({interval}) FILTER (WHERE {_TOLD}), '0')) * 1000000)::bigint"


def _number(name: str, title: str, meaning: str, condition: str) -> Metric:
    return Metric(name, title, Unit.PEOPLE, meaning, {name: _count(condition)}, {"value": "{0}"})


def _mean(name: str, title: str, meaning: str, figures: Mapping[str, str], *, unit: Unit, scale: float) -> Metric:
    """The first figure divided by the second. Expressions are stored as 4-byte floats, which have no seventh digit."""
    answer = {"value": f"round({{0}} / {scale!r} / {{1}}, {DIGITS}) if {{1}} else None"}
    return Metric(name, title, unit, meaning, figures, answer, scale)


def _breakdown(
    name: str, title: str, meaning: str, conditions: Mapping[str, str], columns: Mapping[str, str]
) -> Metric:
    """How many interested people are in each part."""
    figures = {columns[part]: _count(f"interested AND {condition}") for part, condition in conditions.items()}
    answer = {part: f"{{{number}}}" for number, part in enumerate(conditions)}
    if UNKNOWN in answer:  # people of a block may be found not to be interested later
        answer[UNKNOWN] = "{0} if {0} > 0 else 0".replace("{0}", answer[UNKNOWN])
    return Metric(name, title, Unit.PARTS, meaning, figures, answer)


def _columns(name: str, parts: Mapping[str, str]) -> dict[str, str]:
    """The column of each part: letters, digits and underscores."""
    words = {UNKNOWN: "unknown", "65+": "65_up"}
    return {part: f"{name}_{words.get(part, part).replace('-', '_')}" for part in parts}


# The parts that people are counted by, each with its condition over judged visits.
CATEGORY_PARTS = {
    f"{age}_{gender}": f"known_gender = '{gender}' AND band > 0 AND age {sign} senior_age"
    for age, sign in (("senior", ">="), ("young", "<"))
    for gender in ("female", "male")
}
GENDER_PARTS = {gender: f"known_gender = '{gender}'" for gender in (UNKNOWN, "female", "male")}
AGE_PARTS = {
    **{band: f"band = {number}" for number, band in enumerate(AGE_BANDS, start=1)},
    UNKNOWN: "band = 0",
}
EMOTION_PARTS = {emotion: f"known_emotion = '{emotion}'" for emotion in (*EMOTIONS, UNKNOWN)}
_BALANCE = "(greatest(0, least(2, 1 + happiness::float8 - anger::float8 - sadness::float8)) / 2 * 1000000000)::bigint"
"""From 0 to a billion, however the shares were rounded. Sums of whole numbers are the same in any order."""

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _number(
            "passing_by",
            gettext_noop("Passing by"),
            gettext_noop("People who were in view for at least 1 second."),
            "passing_by",
        ),
        _number(
            "interested",
            gettext_noop("Interested"),
            gettext_noop("People who stopped for at least 3 seconds and looked for more than 1."),
            "interested",
        ),
        _mean(
            "stop_time",
            gettext_noop("Stop time"),
            gettext_noop("Seconds that an interested person stands still, on average."),
            {"still_us": _microseconds("still_for"), "told": _count(_TOLD)},
            unit=Unit.SECONDS,
            scale=1e6,
        ),
        _mean(
            "attention_time",
            gettext_noop("Attention time"),
            gettext_noop("Seconds that an interested person looks, on average."),
            {"looking_us": _microseconds("looking_for"), "told": _count(_TOLD)},
            unit=Unit.SECONDS,
            scale=1e6,
        ),
        _breakdown(
            "category",
            gettext_noop("Category"),
            "Interested people by age and gender. People whose age or gender is not known are in none.",
            CATEGORY_PARTS,
            {part: part for part in CATEGORY_PARTS},
        ),
        _breakdown(
            "gender",
            gettext_noop("Gender"),
            "Interested people by gender; `?` where it is not known.",
            GENDER_PARTS,
            _columns("gender", GENDER_PARTS),
        ),
        _mean(
            "satisfaction",
            gettext_noop("Satisfaction"),
            "How happy interested people look, on average: from 0 to 1.",
            {
                "balance": f"coalesce(sum({_BALANCE}) FILTER (WHERE {_TOLD} AND neutral IS NOT NULL), 0)",
                "balance_of": _count(f"{_TOLD} AND neutral IS NOT NULL"),
            },
            unit=Unit.SHARE,
            scale=1e9,
        ),
        _breakdown(
            "age",
            gettext_noop("Age"),
            "Interested people by age; `?` where it is not known.",
            AGE_PARTS,
            _columns("age", AGE_PARTS),
        ),
        _breakdown(
            "emotion",
            gettext_noop("Emotion"),
            "Interested people by what their face shows most; `?` where it is not known.",
            EMOTION_PARTS,
            _columns("emotion", EMOTION_PARTS),
        ),
        _number(
            "stopped",
            gettext_noop("Stopped"),
            gettext_noop("People who stood still for at least 3 seconds, wherever they looked."),
            "stopped",
        ),
    )
}


@lru_cache(maxsize=1024)
def in_declared_order(metrics: tuple[str, ...]) -> tuple[str, ...]:
    """So that statements are cached by choice of metrics: there are 500 choices, and a million orders."""
    return tuple(name for name in METRICS if name in metrics)


def figures_of(metrics: tuple[str, ...]) -> dict[str, str]:
    """The columns that some metrics need, with the SQL of each."""
    return {column: made for name in metrics for column, made in METRICS[name].figures.items()}


@lru_cache(maxsize=1024)
def pieces_of(metrics: tuple[str, ...]) -> list[tuple[str, slice]]:
    """The slice of a row that each metric is computed from. A row starts with the bucket's number."""
    pieces, begin = {}, 1
    for name in in_declared_order(metrics):
        end = begin + len(METRICS[name].figures)
        pieces[name], begin = slice(begin, end), end
    return [(name, pieces[name]) for name in metrics]


@lru_cache(maxsize=1024)
def shape_of(metrics: tuple[str, ...]) -> Callable[[Figures], dict[str, Value]]:
    """Turns a row into the answers of some metrics, all at once: a call for each takes twice as long."""
    answers = (f"{name!r}: {METRICS[name].answer_from(piece.start)}" for name, piece in pieces_of(metrics))
    return _compile(f"{{{', '.join(answers)}}}")


ALL_FIGURES = figures_of(tuple(METRICS))
BLOCK_FIGURES = tuple(figures_of(tuple(name for name, metric in METRICS.items() if metric.unit is not Unit.PEOPLE)))
"""Columns about people, which may come in blocks. Counts only say that somebody was there."""
UNKNOWN_FIGURES = {
    column: tuple(other for other in metric.figures if other != column)
    for metric in METRICS.values()
    for column in metric.figures
    if column.endswith("_unknown")
}
"""Columns of people of whom a part is not known, with the columns of those of whom it is."""
WEEK_METRICS = ("interested", "stop_time", "attention_time", "satisfaction", "emotion")
"""What weeks of grouped streams tell of a cell: sums over its people of what blocks tell too, and no other trait."""
WEEK_FIGURES = tuple(
    column for column in figures_of(WEEK_METRICS) if column in BLOCK_FIGURES and column not in UNKNOWN_FIGURES
)
"""Columns of a cell; the others follow from them."""
