"""A service of an attacker's code: makes the attempt that it is told, and says what it got."""

from pathlib import Path
from typing import Any

from bench.abuse.escape.attempts import EAVESDROP, Surroundings, attempts, eavesdrop
from onlooker_pipeline.catalogue.service import Field, FieldKind, Service
from onlooker_pipeline.service_call import Call

SERVICE = Service(
    name="hostile",
    version=1,
    description="Tries to get out.",
    fields=(
        Field("attempt", FieldKind.TEXT, "Which one.", required=True),
        Field("around", FieldKind.TEXT, "What it knows: home, worker, others and ports, with | between them."),
    ),
    result={"got": "What it got."},
    implementation="bench.abuse.escape.hostile_service",
)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    if call.params["attempt"] == EAVESDROP:
        return {"got": eavesdrop()}, state
    home, worker, others, database_port, bus_port = call.params["around"].split("|")
    pids = [int(pid) for pid in others.split(",")]
    around = Surroundings(Path(home), int(worker), pids, int(database_port), int(bus_port))
    return {"got": attempts(around)[call.params["attempt"]]()}, state
