"""Where the labelled pictures and scenes lie: beside the project, never in it."""

import csv
import sys
from pathlib import Path

BESIDE_THE_PROJECT = Path(__file__).resolve().parents[3] / "shared" / "testdata"


def find_testdata(folder: str | Path | None = None) -> Path:
    """The folder, or the end of the program with what is missing."""
    path = Path(folder) if folder else BESIDE_THE_PROJECT
    if not (path / "images").is_dir():
        sys.exit(f"No labelled pictures in {path}. They are not part of the repository: name their folder with --data.")
    return path


def read_labels(folder: Path) -> list[dict[str, str]]:
    """The rows of a folder's labels.csv."""
    with (folder / "labels.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))
