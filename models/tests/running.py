"""Runs a small graph in the real runtime."""

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from numpy.typing import NDArray

from building.graph import Graph, Tensor
from building.onnx_runtime import onnxruntime

Floats = NDArray[np.float32]


def run(model: onnx.ModelProto, picture: Floats) -> list[Floats]:
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs: list[Floats] = session.run(None, {session.get_inputs()[0].name: picture})
    return outputs


def run_layers(picture: Floats, add: Callable[[Graph, Tensor], Tensor | Sequence[Tensor]]) -> list[Floats]:
    """What the added layers make of the picture, which lies as the sources have it: channels last."""
    graph = Graph()
    added = add(graph, Tensor("picture", picture.ndim))
    tensors = [added] if isinstance(added, Tensor) else added
    outputs = {f"output{number}": tensor for number, tensor in enumerate(tensors)}
    return run(graph.finish("test", inputs={"picture": picture.shape}, outputs=outputs), picture)


def random_floats(*shape: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)
