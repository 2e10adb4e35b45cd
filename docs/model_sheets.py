"""The figures of the conformity sheets, read from the model cards and the pages of measured accuracy."""

import json
import re
from pathlib import Path

from explanations import Undocumented

MAP_COLUMNS = {
    "age": ("age off", "bias", "right", "`?`"),
    "gender": ("gender right",),
    "face_detect": ("found",),
    "face_landmark": ("looking",),
    "iris_landmark": ("looking",),
}
"""Which columns of the map of conditions are about a net."""
CONDITIONS = ("Height of the face, pixels", "Blur by the lens, pixels", "Noise, grey levels", "Light, share")
"""What an installer can change; the page has more."""
GROUPS = ("Age", "Gender", "Ethnic group", "Ethnic group and gender, from 15 years on")
TOPICS = {
    "age": ("Age",),
    "emotion_fa": ("Expression",),
    "emotion_mx": ("Expression",),
    "face_landmark": ("Head direction", "Looking"),
    "iris_landmark": ("Gaze", "Looking"),
}
"""Which limits of the page of accuracy are about a net."""
COLUMN_NAMES = {"age off": "mean error, years", "bias": "bias, years", "right": "within ten years", "`?`": "no age"}
STREET_FIGURES = re.compile(r"^`(recall|precision)")

Table = tuple[list[str], list[list[str]]]


def model_sheets(cards: Path, reference: Path) -> str:
    """All sheets as JSON, by the name of the net."""
    accuracy = (reference / "accuracy.md").read_text(encoding="utf-8")
    streets = (reference / "streets.md").read_text(encoding="utf-8")
    sheets = {path.stem: _sheet(path, accuracy, streets) for path in sorted(cards.glob("*.md"))}
    return json.dumps(sheets, indent=1, ensure_ascii=False) + "\n"


def _sheet(path: Path, accuracy: str, streets: str) -> dict[str, object]:
    name, card = path.stem, path.read_text(encoding="utf-8")
    columns = MAP_COLUMNS.get(name, ())
    groups = [_part(accuracy, f"#### {title}", title, columns) for title in GROUPS]
    conditions = [_part(accuracy, f"### {title}", title, columns) for title in CONDITIONS]
    measured = _section(card, "## Error by group")
    head, rows = _table(measured, name)
    if name == "person_detect":
        rows += [row for row in _table(streets, "streets")[1] if STREET_FIGURES.match(row[0])]
    return {
        "name": f"{name}.onnx",
        "about": _plain(_section(card, "# ")),
        "source": _bullets(_section(card, "## Source")),
        "licence": _plain(_section(card, "## Licence")),
        "outputs": _outputs(card, name),
        "figures": {"title": "", "head": [_plain(one) for one in head], "rows": _plain_rows(rows)},
        "groups": [group for group in groups if group],
        "groups_basis": _plain(_section(accuracy, "### By group of people")) if any(groups) else "",
        "conditions": [one for one in conditions if one],
        "limits": _bullets(_section(card, "## Known limits")),
        "untested": _topics(_section(accuracy, "## Limits"), TOPICS.get(name, ())),
    }


def _outputs(card: str, name: str) -> dict[str, object]:
    """Everything that a net computes, as its card lists it."""
    head, rows = _table(_section(card, "## Output"), name)
    return {"title": "Outputs", "head": head, "rows": _plain_rows(rows)}


def _section(text: str, heading: str) -> str:
    """What stands below a heading, up to the next one."""
    found = re.search(rf"^{re.escape(heading)}.*?\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise Undocumented(f"There is no heading {heading!r} to write the conformity sheets from.")
    return found[1]


def _part(accuracy: str, heading: str, title: str, columns: tuple[str, ...]) -> dict[str, object] | None:
    """Some columns of a table; None where it has none of them."""
    head, rows = _table(_section(accuracy, f"{heading}\n"), title)
    chosen = [0, *(head.index(column) for column in columns if column in head)]
    if len(chosen) == 1:
        return None
    names = [COLUMN_NAMES.get(head[number], head[number]) for number in chosen]
    return {"title": title, "head": names, "rows": _plain_rows([[row[number] for number in chosen] for row in rows])}


def _table(text: str, where: str) -> Table:
    """The first table of a text."""
    lines = re.findall(r"^\|(.*)\|$", text, re.MULTILINE)
    if len(lines) < 3:
        raise Undocumented(f"There is no table in {where!r} to write the conformity sheets from.")
    width = lines[0].count("|")
    cells = [[cell.strip() for cell in line.split("|")] for line in lines if line.count("|") == width]
    return cells[0], cells[2:]


def _bullets(text: str) -> list[str]:
    return [_plain(one) for one in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]


def _topics(text: str, topics: tuple[str, ...]) -> list[str]:
    return [one for one in _bullets(text) if one.partition(":")[0] in topics]


def _plain_rows(rows: list[list[str]]) -> list[list[str]]:
    return [[_plain(cell) for cell in row] for row in rows]


def _plain(text: str) -> str:
    """Without marks of Markdown and comments, on one line."""
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(text.replace("`", "").split())
