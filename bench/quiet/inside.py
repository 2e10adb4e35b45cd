"""Runs inside the namespace: starts the product, keeps it busy, and prints what was recorded."""

import argparse
import json
import tempfile
from pathlib import Path

from bench.product import say
from bench.quiet.activity import Activity
from bench.quiet.namespace import lead_out
from bench.quiet.recorder import Recorder
from onlooker.testing import fresh_database, running_stack


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database_server")
    parser.add_argument("folder", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("--stop-when-heard", action="store_true")
    chosen = parser.parse_args()
    own = chosen.folder / "bench"
    own.mkdir()
    lead_out(own)
    with Recorder() as recorder, fresh_database(chosen.database_server) as database:
        say(f"the product starts in a namespace whose other end is recorded; it computes for {chosen.seconds:g} s")
        with running_stack(database) as stack:
            activity = Activity(stack, own)
            activity.run(chosen.seconds, until=lambda: chosen.stop_when_heard and bool(recorder.packets))
    print(
        json.dumps(
            {
                "done": activity.done,
                "packets": recorder.packets,
                "first_after_s": recorder.first_after_s,
                "temporary": tempfile.gettempdir(),
            }
        )
    )


if __name__ == "__main__":
    main()
