"""`sound_localization`: the directions that sounds come from, in a stereo recording."""

from typing import Any

from onlooker_pipeline.service_call import Call, ComputeError
from onlooker_pipeline.sound.sources import Source, find_sources
from onlooker_pipeline.sound.wav import read_wav

BASELINES_M = (0.01, 5.0)
USUAL_SENSITIVITY = 0.5


def compute(call: Call, state: Any) -> tuple[dict[str, Any], Any]:
    """Each recording stands alone, in a session too."""
    baseline_m = float(call.params["baseline"])
    if not BASELINES_M[0] <= baseline_m <= BASELINES_M[1]:
        raise ComputeError(
            "bad_baseline",
            f"The baseline is {baseline_m:g} m. Microphones {BASELINES_M[0]:g} to {BASELINES_M[1]:g} m apart are "
            "taken: give their distance in metres.",
        )
    samples = read_wav(call.attachments["sound"])
    sensitivity = float(call.params.get("sensitivity", USUAL_SENSITIVITY))
    sources = find_sources(samples, baseline_m, sensitivity=sensitivity)
    described = [_described(index, source) for index, source in enumerate(sources)]
    return {"input_size": len(samples), "nb_sources": len(described), "sources": described}, state


def _described(index: int, source: Source) -> dict[str, Any]:
    return {"index": index, "yaw": round(source.yaw_radians, 4), "confidence": round(source.confidence, 3)}
