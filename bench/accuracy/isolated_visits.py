"""Runs where only the pipeline and the models are installed: the frames of a folder to visits, as one JSON object.

Started as a file by `bench.accuracy.pipeline_alone`, so it imports nothing of the project except the pipeline.
"""

import json
import resource
import sys
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path

from onlooker_pipeline.scene_session import find_visits

UNWANTED = ("django", "nats", "psycopg", "onlooker", "onlooker_client")


def read_frames(folder: Path) -> Iterator[tuple[bytes, datetime]]:
    for name, taken_at in json.loads((folder / "frames.json").read_text()):
        yield (folder / name).read_bytes(), datetime.fromisoformat(taken_at)


def main(folder: Path) -> None:
    visits = [
        {
            "present": visit.present,
            "still": visit.still,
            "looking": visit.looking,
            "age": visit.age,
            "gender": visit.gender,
            "expression": visit.expression,
        }
        for visit in find_visits(read_frames(folder))
    ]
    report = {
        "visits": visits,
        "importable": [name for name in UNWANTED if find_spec(name)],
        "packages": sorted(found.metadata["Name"] for found in distributions()),
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
