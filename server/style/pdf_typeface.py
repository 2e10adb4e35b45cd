"""Makes the typeface of PDF reports from the console's own, which npm has installed; `--check` finds a stale one.

Of each part of Inter, in two weights: a static TrueType font whose figures have one width, and the glyphs and widths
that the layout reads, so that the server needs no library for fonts.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont
from fontTools.varLib.instancer import instantiateVariableFont

HERE = Path(__file__).parent
PACKAGE = HERE / "node_modules/@fontsource-variable/inter"
COMMITTED = HERE.parent / "src/onlooker/console/reports/pdf/typeface"
PARTS = ("latin", "latin-ext", "greek", "cyrillic", "vietnamese")
"""The first that has a letter draws it."""
WEIGHTS = {"regular": 400, "bold": 600}
LEFT_OUT = {*range(0x0250, 0x02B0), *range(0x1D00, 0x1DC0), *range(0x2C60, 0x2C80), *range(0xA720, 0xA800)}
"""Of phonetics and the like: names have none of them."""
LACKING = 0xFFFD
"""Drawn as the font's own mark for a letter that it lacks."""
EM = 1000
"""Widths are in thousandths of the size, as PDF has them."""


def build(folder: Path) -> None:
    metrics = {}
    for style, weight in WEIGHTS.items():
        metrics[style] = [make_font(part, style, weight, folder) for part in PARTS]
    (folder / "metrics.json").write_text(json.dumps(metrics, separators=(",", ":")) + "\n")
    shutil.copy(PACKAGE / "LICENSE", folder / "licence-inter.txt")


def make_font(part: str, style: str, weight: int, folder: Path) -> dict[str, object]:
    source = TTFont(PACKAGE / f"files/inter-{part}-wght-normal.woff2", recalcTimestamp=False)
    font = instantiateVariableFont(source, {"wght": weight})
    letters = {code for code in font.getBestCmap() if code not in LEFT_OUT}
    _use_figures_of_one_width(font)
    options = Options(hinting=False, layout_features=[], notdef_outline=True, name_IDs=[0, 1, 2, 4, 5, 6, 13, 14])
    options.drop_tables += ["GDEF", "GPOS", "GSUB", "STAT", "gasp", "meta"]
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=letters)
    subsetter.subset(font)
    font.flavor = None
    name = f"inter-{part}-{style}.ttf"
    font.save(folder / name)
    return {"file": name, **_measure(font)}


def _use_figures_of_one_width(font: TTFont) -> None:
    """As the console's tables have them: OpenType's `tnum`, for good."""
    if "GSUB" not in font:
        return
    table = font["GSUB"].table
    places = {
        place
        for one in table.FeatureList.FeatureRecord
        if one.FeatureTag == "tnum"
        for place in one.Feature.LookupListIndex
    }
    instead = dict(_single_substitutions(table.LookupList.Lookup[place] for place in places))
    for cmap in font["cmap"].tables:
        for code, glyph in cmap.cmap.items():
            if chr(code).isdigit():
                cmap.cmap[code] = instead.get(glyph, glyph)


def _single_substitutions(lookups: Iterable[object]) -> Iterable[tuple[str, str]]:
    for lookup in lookups:
        for part in lookup.SubTable:
            yield from getattr(part, "ExtSubTable", part).mapping.items()


def _measure(font: TTFont) -> dict[str, object]:
    scale = EM / font["head"].unitsPerEm
    head, lines = font["head"], font["hhea"]
    glyphs = {
        code: (font.getGlyphID(glyph), round(scale * font["hmtx"][glyph][0]))
        for code, glyph in sorted(font.getBestCmap().items())
    }
    glyphs[LACKING] = (0, round(scale * font["hmtx"][".notdef"][0]))
    return {
        "ascent": round(scale * lines.ascent),
        "descent": round(scale * lines.descent),
        "cap_height": round(scale * font["OS/2"].sCapHeight),
        "box": [round(scale * edge) for edge in (head.xMin, head.yMin, head.xMax, head.yMax)],
        "glyphs": glyphs,
    }


def check() -> int:
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        made = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    committed = {path.name: path.read_bytes() for path in COMMITTED.iterdir() if path.suffix != ".py"}
    if stale := sorted(name for name in made.keys() | committed.keys() if made.get(name) != committed.get(name)):
        print(f"Stale: {', '.join(stale)}. Run `just pdf-typeface`.", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(check())
    build(COMMITTED)
