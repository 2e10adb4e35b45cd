"""The section of a stream that tells about people in groups: age by gender and mean times, of whole weeks."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from onlooker.console.breakdowns.age_by_gender import make_pyramid
from onlooker.console.breakdowns.cell_numbers import CellSource
from onlooker.console.breakdowns.mean_times import make_means
from onlooker.console.breakdowns.part_names import name_group
from onlooker.console.breakdowns.refusals import lead_to
from onlooker.console.breakdowns.section import offer
from onlooker.console.breakdowns.selection import CHOICES, Selection
from onlooker.console.breakdowns.week_numbers import PeriodWeeks, WeekCells
from onlooker.console.dashboard.period import format_range
from onlooker.console.languages.locale_text import write_count, write_list
from onlooker.console.time_chart.series import ChartSource
from onlooker.metrics.breakdown import CellQuery
from onlooker.metrics.buckets import Week, week_around
from onlooker.metrics.definitions import in_declared_order
from onlooker.metrics.week_cells import WEEK_DIMENSIONS

MOST_NAMED = 4
"""Runs of weeks that are named one by one."""
_CHOICES = ("mean", "across")
_TOLD_BY = ("age", "gender")


def present_weeks(weeks: PeriodWeeks, source: ChartSource, selection: Selection) -> dict[str, Any]:
    """What the templates need; or a refusal, and the address of what can be shown instead."""
    clock = (source.period.zone, source.now)
    if not weeks.told.rows:
        return _explain_none(weeks, source, selection)
    if others := [name for name in selection.kept if name not in WEEK_DIMENSIONS]:
        said = _("This stream tells about people in groups. Its weeks can be filtered only by gender and age.")
        return {"refusal": said, "remedy": selection.without(*others), "remedy_said": _("Remove the other filters")}
    if refusal := _explain_divided(weeks, selection):
        return refusal
    if not {*selection.across.split(",")} <= WEEK_DIMENSIONS.keys():
        selection = replace(selection, across=CHOICES["across"][0])
    cells = _open_cells(weeks, source, selection)
    pyramid, means = make_pyramid(cells, selection), make_means(cells, selection)
    nobody = "" if pyramid.total else _("No interested person matches.")
    return {
        "range": write_weeks(weeks.told.weeks, *clock),
        "weeks": {"people": write_count(pyramid.total), "gaps": _explain_gaps(weeks, *clock)},
        "pyramid": pyramid,
        "means": means,
        "troubles": {
            "pyramid": nobody,
            "means": nobody or ("" if means.has_values else _("Everywhere there are fewer than 10 people.")),
        },
        "data": {"pyramid": pyramid.data, "means": means.data},
        "options": {name: [one for one in offer(name, selection) if one.value != "hour_of_day"] for name in _CHOICES},
        "hidden": {name: selection.hidden(name) for name in _CHOICES},
    }


def write_weeks(weeks: Sequence[Week], zone: ZoneInfo, now: datetime) -> str:
    """`Mon 2 Nov to Sun 15 Nov`: weeks that follow one another together."""
    runs: list[Week] = []
    for begins_at, ends_at in weeks:
        follows = runs and runs[-1][1] == begins_at
        runs.append((runs.pop()[0] if follows else begins_at, ends_at))
    if len(runs) <= MOST_NAMED:
        return write_list([format_range(*run, zone, now=now) for run in runs])
    all_of_them = format_range(runs[0][0], runs[-1][1], zone, now=now)
    return _("{count} weeks, {range}").format(count=write_count(len(weeks)), range=all_of_them)


def _open_cells(weeks: PeriodWeeks, source: ChartSource, selection: Selection) -> WeekCells:
    breakdown = CellQuery(by=_TOLD_BY, filters=selection.filters)
    metrics = in_declared_order(("interested", selection.mean))
    asked = CellSource(source.stream, source.period, source.now, False, breakdown, metrics)
    return WeekCells(asked, weeks.told)


def _explain_none(weeks: PeriodWeeks, source: ChartSource, selection: Selection) -> dict[str, Any]:
    zone, now = source.period.zone, source.now
    said = [
        _(
            "This stream tells about people in groups of at least {people}. Age and gender are shown only for whole "
            "weeks, Monday to Sunday, once they are over."
        ).format(people=source.stream.groups_of),
        *(_explain_gaps(weeks, zone, now) or [_("This period contains no such week.")]),
    ]
    if not weeks.offered:
        return {"refusal": " ".join([*said, _("No week of this stream can be shown yet.")])}
    begins_at = week_around(weeks.offered[0][0], zone)[0]
    ends_at = week_around(weeks.offered[-1][1] - timedelta.resolution, zone)[1]
    label = _("Show {weeks}").format(weeks=write_weeks(weeks.offered, zone, now))
    local = {"since": begins_at.astimezone(zone), "until": ends_at.astimezone(zone)}
    return {"refusal": " ".join(said)} | lead_to(selection, label, **local)


def _explain_gaps(weeks: PeriodWeeks, zone: ZoneInfo, now: datetime) -> list[str]:
    said = []
    if weeks.late:
        text = _("Not shown yet, because visits may still arrive: {weeks}.")
        said.append(text.format(weeks=write_weeks(weeks.late, zone, now)))
    if weeks.untold:
        text = _(
            "Not shown: {weeks}. Too few people came, visits arrived late or were deleted, or the stream did not use "
            "groups then."
        )
        said.append(text.format(weeks=write_weeks(weeks.untold, zone, now)))
    return said


def _explain_divided(weeks: PeriodWeeks, selection: Selection) -> dict[str, Any]:
    divided = weeks.told.find_divided(CellQuery(filters=selection.filters))
    if divided is None:
        return {}
    name, group = divided
    wider = tuple(part for part in WEEK_DIMENSIONS[name] if part in {*selection.kept[name], *group})
    said = _("In these weeks, {parts} are shown only together.").format(parts=name_group(name, group))
    return {
        "refusal": said,
        "remedy": selection.toggle({name: wider}),
        "remedy_said": _("Filter by {parts}").format(parts=name_group(name, wider)),
    }
