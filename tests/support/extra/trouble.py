"""A service that sleeps, fails or brings its process down, as it is told."""

import os
import time
from typing import Any

from onlooker_pipeline.catalogue.service import Field, FieldKind, Service
from onlooker_pipeline.service_call import Call, ComputeError

SERVICE = Service(
    name="trouble",
    version=1,
    description="Makes trouble.",
    fields=(
        Field("sleep_s", FieldKind.POSITIVE, "How long to sleep."),
        Field("fail", FieldKind.BOOLEAN, "Whether to fail as a service should."),
        Field("crash", FieldKind.BOOLEAN, "Whether to fail as a service should not."),
        Field("die", FieldKind.BOOLEAN, "Whether to bring the process down."),
    ),
    result={"slept_s": "How long it slept."},
    implementation="extra.trouble",
)


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    params = call.params
    time.sleep(params.get("sleep_s", 0))
    if params.get("fail"):
        raise ComputeError("told_to_fail", "It was told to fail.")
    if params.get("crash"):
        raise ZeroDivisionError("told to crash")
    if params.get("die"):
        os._exit(139)
    calls = (state or 0) + 1
    return {"slept_s": params.get("sleep_s", 0), "calls": calls, "pid": os.getpid(), "worker": os.getppid()}, calls
