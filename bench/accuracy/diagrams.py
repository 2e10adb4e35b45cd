"""Errors as small pictures for the documentation: SVG, written by hand."""

from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

CELL = 84
MARGIN = 110
SIDE = 420
INK, PALE, ACCENT = "#222", "#ddd", "#1f6fb2"


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
