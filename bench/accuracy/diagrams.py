"""Errors as small pictures for the documentation: SVG, written by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

CELL = 84
MARGIN = 110
SIDE = 420
INK, PALE, ACCENT = "#222", "#ddd", "#1f6fb2"
PANEL_WIDTH, PANEL_HEIGHT, PANEL_GAP = 300, 150, 84
COLOURS = ("#1f6fb2", "#c2571a", "#3d8b40", "#7a4fa3")
DASHES = ("", "6 4", "2 3", "9 3 2 3")
"""So that lines can be told apart in grey, too."""


@dataclass(frozen=True)
class Panel:
    """A small chart: some lines over one axis, which is drawn by rank, as its steps grow."""

    title: str
    steps: Sequence[str]
    lines: Mapping[str, Sequence[float | None]]
    """By name; None where nothing was measured."""
    lowest: float
    highest: float
    unit: str = ""
    limit: float | None = None
    """A position on the axis, in steps, from which on it is too bad."""


def draw_confusion(
    path: Path, title: str, labels: Sequence[str], rows: Sequence[Sequence[int]], *, read: Sequence[str] = ()
) -> None:
    """A row for each label, a column for each reading; the darker, the larger its share of the row."""
    columns = list(read or labels)
    parts = []
    for i, (label, counts) in enumerate(zip(labels, rows, strict=True)):
        top = MARGIN + i * CELL
        parts.append(_text(MARGIN - 8, top + CELL / 2, label, anchor="end"))
        for j, count in enumerate(counts):
            share = count / max(sum(counts), 1)
            left = MARGIN + j * CELL
            parts.append(_square(left, top, share))
            parts.append(_text(left + CELL / 2, top + CELL / 2, str(count), fill="#fff" if share > 0.6 else INK))
    parts += [_text(MARGIN + (j + 0.5) * CELL, MARGIN - 12, name) for j, name in enumerate(columns)]
    parts.append(_text(MARGIN, MARGIN - 60, f"{title}: rows as labelled, columns as read", anchor="start"))
    _write(path, MARGIN + max(len(columns) * CELL, SIDE) + 20, MARGIN + len(labels) * CELL + 20, parts)


def draw_scatter(path: Path, title: str, points: Sequence[tuple[float, float]], *, limit: float) -> None:
    """Labels to the right, readings upwards, both from nought to the limit; on the line they agree."""
    scale = SIDE / limit
    bottom = MARGIN + SIDE
    parts = [f'<path d="M{MARGIN} {bottom} L{MARGIN + SIDE} {MARGIN}" stroke="{PALE}"/>']
    for step in range(0, round(limit) + 1, 10):
        at = step * scale
        parts.append(_text(MARGIN + at, bottom + 18, str(step)))
        parts.append(_text(MARGIN - 8, bottom - at, str(step), anchor="end"))
    parts.append(f'<path d="M{MARGIN} {MARGIN} V{bottom} H{MARGIN + SIDE}" fill="none" stroke="{INK}"/>')
    for label, reading in points:
        x, y = MARGIN + label * scale, bottom - reading * scale
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{ACCENT}" fill-opacity="0.6"/>')
    parts.append(_text(MARGIN, MARGIN - 20, f"{title}: labels to the right, readings upwards", anchor="start"))
    _write(path, MARGIN + SIDE + 20, bottom + 40, parts)


def draw_panels(path: Path, title: str, panels: Sequence[Panel], *, columns: int) -> None:
    """Charts side by side, row by row, with one legend for all."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    parts = [_text(24, 24, title, anchor="start"), *_legend(names)]
    for number, panel in enumerate(panels):
        left = 60 + number % columns * (PANEL_WIDTH + PANEL_GAP)
        top = 96 + number // columns * (PANEL_HEIGHT + PANEL_GAP)
        parts += _panel(panel, names, left=left, top=top)
    rows = -(-len(panels) // columns)
    _write(path, columns * (PANEL_WIDTH + PANEL_GAP) + 20, 96 + rows * (PANEL_HEIGHT + PANEL_GAP) - 24, parts)


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        left = 24 + number * 190
        parts.append(f'<path d="M{left} 50 h28" {_stroke(number)}/>')
        parts.append(_text(left + 36, 50, name, anchor="start"))
    return parts


def _panel(panel: Panel, names: Sequence[str], *, left: float, top: float) -> list[str]:
    bottom, step = top + PANEL_HEIGHT, PANEL_WIDTH / max(len(panel.steps) - 1, 1)
    scale = PANEL_HEIGHT / (panel.highest - panel.lowest)
    parts = [_text(left, top - 14, panel.title, anchor="start")]
    if panel.limit is not None:
        x = left + panel.limit * step
        parts.append(f'<path d="M{x:.1f} {top} V{bottom}" stroke="{INK}" stroke-dasharray="1 3"/>')
    for share in (0.0, 0.5, 1.0):
        value = panel.lowest + share * (panel.highest - panel.lowest)
        y = bottom - share * PANEL_HEIGHT
        parts.append(f'<path d="M{left} {y:.1f} h{PANEL_WIDTH}" stroke="{PALE}"/>')
        parts.append(_text(left - 8, y, f"{value:g}{panel.unit}", anchor="end"))
    parts += [_text(left + i * step, bottom + 16, word) for i, word in enumerate(panel.steps)]
    for name, values in panel.lines.items():
        points = [
            f"{left + i * step:.1f} {bottom - (min(max(v, panel.lowest), panel.highest) - panel.lowest) * scale:.1f}"
            for i, v in enumerate(values)
            if v is not None
        ]
        parts.append(f'<path d="M{" L".join(points)}" {_stroke(names.index(name))}/>')
    return parts


def _stroke(number: int) -> str:
    dashes = f' stroke-dasharray="{DASHES[number]}"' if DASHES[number] else ""
    return f'fill="none" stroke="{COLOURS[number]}" stroke-width="2"{dashes}'


def _square(left: float, top: float, share: float) -> str:
    place = f'x="{left}" y="{top}" width="{CELL}" height="{CELL}"'
    return f'<rect {place} fill="{ACCENT}" fill-opacity="{share:.3f}" stroke="{PALE}"/>'


def _text(x: float, y: float, text: str, *, anchor: str = "middle", fill: str = INK) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" dominant-baseline="middle"'
    return f'<text {place} fill="{fill}">{escape(text)}</text>'


def _write(path: Path, width: float, height: float, parts: Sequence[str]) -> None:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="sans-serif" font-size="13"><rect width="100%" height="100%" fill="#fff"/>'
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *parts, "</svg>", ""]), encoding="utf-8")
