"""What visits, meters and session states write, beside what the release before wrote."""

import argparse
from typing import Any

from bench.cost.meter_writes import measure_meters
from bench.cost.state_bytes import measure_states
from bench.cost.visit_writes import measure_visits
from bench.lib.product import conclude, concluding, say

VISITS = 3000
METERED_S = 60.0
WAL_TARGET, STATE_TARGET, METER_TARGET = 0.8, 0.7, 0.2
"""Of what was written before; of states, with one person in view."""


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=VISITS)
    parser.add_argument("--metered", type=float, default=METERED_S, help="seconds")
    return parser.parse_args()


@concluding
def main() -> None:
    asked = parse_arguments()
    say(f"{asked.visits} visits, before and after")
    visits = measure_visits(asked.visits)
    for way, cost in visits.items():
        print(
            f"visits {way:6}: {cost.revisions:.2f} revisions, {cost.rows:.2f} rows, {cost.wal_bytes:.0f} B of WAL and "
            f"{cost.table_bytes:.0f} B of table and indexes a visit, {100 * cost.hot_share:.0f} % of updates HOT"
        )
    say("session states")
    states = measure_states()
    for way, by_people in states.items():
        said = ", ".join(f"{people} people {cost.kept_bytes:.0f} B" for people, cost in by_people.items())
        print(f"states {way:6}: {said} a frame")
    costs = ", ".join(f"{people} people {cost.compression_us:.0f} us" for people, cost in states["before"].items())
    print(f"compressing a state takes {costs} of CPU")
    say(f"meters, for {asked.metered:g} seconds")
    meters = measure_meters(asked.metered)
    for way, rows in meters.items():
        print(f"meters {way:6}: {rows:.1f} rows a stream, gateway and minute")
    wal_ratio = visits["after"].wal_bytes / visits["before"].wal_bytes
    state_ratio = states["after"][1].kept_bytes / states["before"][1].kept_bytes
    meter_ratio = meters["after"] / meters["before"]
    figures: dict[str, Any] = {
        "ok": wal_ratio <= WAL_TARGET and state_ratio <= STATE_TARGET and meter_ratio <= METER_TARGET,
        "wal_ratio": round(wal_ratio, 3),
        "state_ratio": round(state_ratio, 3),
        "meter_ratio": round(meter_ratio, 3),
    }
    for way, cost in visits.items():
        figures |= {
            f"visit_rows_{way}": round(cost.rows, 2),
            f"visit_wal_bytes_{way}": round(cost.wal_bytes),
            f"visit_table_bytes_{way}": round(cost.table_bytes),
            f"hot_share_{way}": round(cost.hot_share, 3),
        }
        figures |= {f"state_bytes_{people}_{way}": round(one.kept_bytes) for people, one in states[way].items()}
        figures[f"meter_rows_{way}"] = round(meters[way], 1)
    figures |= {f"compression_us_{people}": round(one.compression_us) for people, one in states["before"].items()}
    conclude(figures)


if __name__ == "__main__":
    main()
