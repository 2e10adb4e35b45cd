"""The neural networks of this process: one ONNX Runtime session per model, loaded once.

The only module that imports ONNX Runtime, so that its telemetry is switched off before the library loads.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from onlooker_pipeline.model_runtime import TELEMETRY_SWITCHES, ModelsUnavailable, model_file

os.environ.update(TELEMETRY_SWITCHES)

import onnxruntime as ort  # noqa: TID251  the library reads the switches while it loads
from onnxruntime.capi import onnxruntime_pybind11_state as errors  # noqa: TID251

__all__ = ["MODEL_ERRORS", "Network", "Tensor", "load_network_file", "load_networks", "network", "ort"]

Tensor = NDArray[np.float32]

PROVIDERS = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
}
MODEL_ERRORS: tuple[type[Exception], ...] = (
    errors.Fail,
    errors.InvalidArgument,
    errors.InvalidGraph,
    errors.InvalidProtobuf,
    errors.NoSuchFile,
    errors.NotImplemented,
    errors.RuntimeException,
)
"""What ONNX Runtime raises for a file that it can't load, or for an input that does not fit; they share no parent."""
ort.set_default_logger_severity(3)


class Network:
    """One model; `run` may be called from several threads."""

    def __init__(self, file: str, *, provider: str, threads: int) -> None:
        options = ort.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # A thread that spins while it waits uses a core that another camera needs.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        # Pictures and batches come in all sizes; a plan for each would cost over 100 MB and save one per cent.
        options.enable_mem_pattern = False
        wanted = dict.fromkeys([PROVIDERS[provider], PROVIDERS["cpu"]])
        self._session = ort.InferenceSession(file, options, providers=list(wanted))
        self.input_shapes: dict[str, list[int | str | None]] = {
            one.name: one.shape for one in self._session.get_inputs()
        }
        self.output_shapes: dict[str, list[int | str | None]] = {
            one.name: one.shape for one in self._session.get_outputs()
        }
        self._input = next(iter(self.input_shapes))

    def run(self, tensor: Tensor, others: Mapping[str, NDArray[np.int64]] | None = None) -> dict[str, Tensor]:
        """The outputs by name; `others` are inputs beside the first."""
        outputs = self._session.run(None, {self._input: tensor} | dict(others or {}))
        return dict(zip(self.output_shapes, cast(Any, outputs), strict=True))


_loaded: dict[str, Network] = {}


def load_networks(names: Iterable[str], *, provider: str = "cpu", threads: int = 1) -> None:
    """Load what is not loaded yet; a worker does this before it reports that it is ready."""
    names = list(names)
    if names:
        _require_provider(provider)
    for name in names:
        if name not in _loaded:
            _loaded[name] = Network(model_file(f"{name}.onnx"), provider=provider, threads=threads)


def load_network_file(name: str, file: Path, *, provider: str = "cpu", threads: int = 1) -> Network:
    """Load a net of the operator's in the place of ours; raises ModelsUnavailable if ONNX Runtime can't run it."""
    _require_provider(provider)
    try:
        _loaded[name] = Network(str(file), provider=provider, threads=threads)
    except MODEL_ERRORS as error:
        raise ModelsUnavailable(f"{file} can't be loaded as an ONNX model: {error}") from None
    return _loaded[name]


def _require_provider(provider: str) -> None:
    if PROVIDERS[provider] not in ort.get_available_providers():
        raise ModelsUnavailable(
            f"ONLOOKER_INFERENCE_PROVIDER is {provider!r}, which the installed ONNX Runtime does not have. "
            "Install the build of ONNX Runtime that has it, or set it to cpu."
        )


def network(name: str) -> Network:
    """A loaded model; by default on the CPU with one thread."""
    if name not in _loaded:
        load_networks([name])
    return _loaded[name]
