"""`dummy`: echoes a text and counts the calls of its session."""

from typing import Any

from onlooker_pipeline.service_call import Call


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    result: dict[str, Any] = {"echo": call.params.get("echo", "echo")}
    if not call.in_session:
        return result, None
    calls = (state or {"calls": 0})["calls"] + 1
    return result | {"calls": calls}, {"calls": calls}
