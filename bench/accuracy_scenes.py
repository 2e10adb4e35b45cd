"""How right visits are on labelled scenes, through the whole product; `python -m bench.accuracy_scenes --help`."""

import argparse
from pathlib import Path

from bench.accuracy.figures import Figure
from bench.accuracy.testdata import find_testdata
from bench.accuracy_vision import as_json, print_table
from bench.product import conclude, running_product, say
from bench.scenes.page import write_page
from bench.scenes.playing import play_scenes
from bench.scenes.scoring import ClipScore
from bench.scenes.summary import as_text, clip_table, compare_counts, summarise
from bench.scenes.truth import Scene, find_scenes
from bench.scenes.variants import VARIANTS, as_filmed

WORKERS = 2
ROOMY = {"rate_limit_per_second": 1e5, "rate_limit_burst": 10**5, "log_level": "warning"}
HELD_OUT = (
    "The clips and scenes beside the project had a part in choosing the constants, so their figures flatter. Scenes "
    "that the generator draws from other seeds (name their folder) measure fairly."
)


def choose_scenes(folder: Path | None, only: str | None) -> list[Scene]:
    if folder is None:
        data = find_testdata()
        scenes = [*find_scenes(data / "clips"), *find_scenes(data / "synth" / "out")]
    else:
        scenes = find_scenes(folder)
    names = only.split(",") if only else [scene.name for scene in scenes]
    if unknown := set(names) - {scene.name for scene in scenes}:
        raise SystemExit(f"No scene is called {', '.join(sorted(unknown))}.")
    if not scenes:
        raise SystemExit(f"No <clip>.gt.json in {folder}: name a folder of videos with their ground truth beside them.")
    return [scene for scene in scenes if scene.name in names]


def measure(scenes: list[Scene], variants: list[str]) -> tuple[list[ClipScore], list[Figure]]:
    with running_product(workers=WORKERS, **ROOMY) as stack:
        say(f"{len(scenes)} scenes as they were filmed")
        scores = play_scenes(stack, scenes, as_filmed)
        figures = summarise(scores)
        say(as_text(clip_table(scores)))
        for name in variants:
            say(f"the same {name.replace('_', ' ')}")
            figures += compare_counts(name, play_scenes(stack, scenes, VARIANTS[name]), scores)
    return scores, figures


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="of <clip>.mp4 with <clip>.gt.json; else the test data")
    parser.add_argument("--only", help="names of scenes, with commas between them")
    parser.add_argument("--variants", default=",".join(VARIANTS), help=f"of {', '.join(VARIANTS)}; or none")
    parser.add_argument("--write", action="store_true", help="write the figures into the documentation")
    return parser.parse_args()


def main() -> None:
    arguments = _arguments()
    variants = [] if arguments.variants == "none" else arguments.variants.split(",")
    if unknown := set(variants) - set(VARIANTS):
        raise SystemExit(f"Nothing is called {', '.join(sorted(unknown))}. There are: {', '.join(VARIANTS)}, none.")
    if arguments.write and (arguments.only or arguments.folder or set(variants) != set(VARIANTS)):
        raise SystemExit("--write needs all figures, of the data beside the project: leave out what narrows them.")
    scores, figures = measure(choose_scenes(arguments.folder, arguments.only), variants)
    if arguments.write:
        write_page(scores, figures, HELD_OUT)
    print(as_text(clip_table(scores)), end="\n\n")
    print_table(figures)
    print(HELD_OUT if arguments.folder is None else "")
    conclude(
        {"ok": all(f.met for f in figures), "scenes": len(scores), "figures": {f.name: as_json(f) for f in figures}}
    )


if __name__ == "__main__":
    main()
