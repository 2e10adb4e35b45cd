"""Compares the built nets with what their original runtimes said, and a batch with its single pictures."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from building.onnx_runtime import onnxruntime
from building.probes import PROBES, Probe, sha256_of_array

Floats = NDArray[np.float32]

STORED_VALUES = 64
# The greatest allowed difference as a share of the output's range. What float32 sums in another order differ by is
# about a tenth of it; a wrong layer, padding or weight is far above it.
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Parity:
    """The worst difference of a net as a share of the range of the output it is found in."""

    worst_ratio: float
    tolerance: float = TOLERANCE

    @property
    def holds(self) -> bool:
        return self.worst_ratio <= self.tolerance


def describe_output(output: Floats) -> dict[str, Any]:
    """What a reference keeps of an output: at most 64 evenly spaced values, and figures of all of them."""
    places = np.linspace(0, output.size - 1, min(output.size, STORED_VALUES)).round().astype(int)
    return {
        "shape": list(output.shape),
        "minimum": float(output.min()),
        "maximum": float(output.max()),
        "mean": float(output.mean(dtype=np.float64)),
        "values": [float(value) for value in output.reshape(-1)[places]],
    }


def describe_input(probe: Probe) -> dict[str, Any]:
    return {"shape": list(probe.shape), "sha256": sha256_of_array(probe.make())}


def compare_with_reference(model: Path, reference: Path) -> Parity:
    stored = json.loads(reference.read_text(encoding="utf-8"))
    probe = PROBES[model.name]
    if stored["input"] != describe_input(probe):
        raise ValueError(f"{reference.name} was made with another input; run `just model-references`")
    outputs = run_model(open_model(model), probe.make())
    if set(outputs) != set(stored["outputs"]):
        raise ValueError(
            f"{model.name} has the outputs {sorted(outputs)}, {reference.name} {sorted(stored['outputs'])}"
        )
    ratios = [difference_ratio(describe_output(outputs[name]), kept) for name, kept in stored["outputs"].items()]
    return Parity(max(ratios))


def difference_ratio(ours: Mapping[str, Any], kept: Mapping[str, Any]) -> float:
    """The greatest difference between two descriptions, as a share of the range of the second."""
    if ours["shape"] != kept["shape"]:
        return float("inf")
    span = max(kept["maximum"] - kept["minimum"], abs(kept["maximum"]), abs(kept["minimum"]))
    figures = ("minimum", "maximum", "mean")
    mine = np.array([*(ours[name] for name in figures), *ours["values"]])
    theirs = np.array([*(kept[name] for name in figures), *kept["values"]])
    return float(np.abs(mine - theirs).max() / span)


def compare_batch(model: Path, pictures: int = 3) -> Parity | None:
    """A batch against its pictures one by one; None where the net takes one picture only."""
    session = open_model(model)
    if session.get_inputs()[0].shape[0] != "N":
        return None
    singles = [PROBES[model.name].make(seed) for seed in range(1, pictures + 1)]
    together = run_model(session, np.concatenate(singles))
    ratios = []
    for number, single in enumerate(singles):
        for name, alone in run_model(session, single).items():
            span = max(float(np.ptp(alone)), float(np.abs(alone).max()))
            ratios.append(float(np.abs(together[name][number : number + 1] - alone).max() / span))
    return Parity(max(ratios))


def open_model(model: Path) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])


def run_model(session: onnxruntime.InferenceSession, picture: Floats) -> dict[str, Floats]:
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {session.get_inputs()[0].name: picture}), strict=True))
