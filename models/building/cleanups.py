"""Changes to a net that leave its results alone: free sizes, folded arithmetic, no denormal weights."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from building.graph import infer_output_shapes

TINY = 1e-12


def free_input(model: onnx.ModelProto, shape: Sequence[int | str]) -> onnx.ModelProto:
    """Declares another input shape; a word is a free size. Shapes that followed from the old one are derived again."""
    for side, size in zip(model.graph.input[0].type.tensor_type.shape.dim, shape, strict=True):
        side.Clear()
        if isinstance(size, str):
            side.dim_param = size
        else:
            side.dim_value = size
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    return infer_output_shapes(model)


def scale_resizes(model: onnx.ModelProto) -> int:
    """Replaces resizes to a size by resizes by a factor, so that the input's size may be freed; says how many."""
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    shapes = {
        value.name: [side.dim_value for side in value.type.tensor_type.shape.dim] for value in inferred.graph.value_info
    }
    resizes = [node for node in model.graph.node if node.op_type == "Resize"]
    for node in resizes:
        factors = np.array(shapes[node.output[0]], np.float32) / np.array(shapes[node.input[0]], np.float32)
        name = f"{node.output[0]}_factors"
        model.graph.initializer.append(numpy_helper.from_array(factors, name))
        picture = node.input[0]
        del node.input[:]
        node.input.extend([picture, "", name])
    _drop_unread(model.graph)
    return len(resizes)


def _drop_unread(graph: onnx.GraphProto) -> None:
    """Removes nodes and constants that nothing reads any more."""
    read = {output.name for output in graph.output}
    kept = []
    for node in reversed(graph.node):
        if read & set(node.output):
            kept.append(node)
            read |= set(node.input)
    constants = [one for one in graph.initializer if one.name in read]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(reversed(kept))
    graph.initializer.extend(constants)


def flush_tiny_weights(model: onnx.ModelProto) -> int:
    """Zeroes weights beneath 1e-12. Products with them are denormal numbers, which cost a CPU up to seven times."""
    flushed = 0
    for initializer in model.graph.initializer:
        array = numpy_helper.to_array(initializer)
        if array.dtype != np.float32:
            continue
        tiny = (np.abs(array) < TINY) & (array != 0)
        if tiny.any():
            flushed += int(tiny.sum())
            initializer.CopyFrom(numpy_helper.from_array(np.where(tiny, np.float32(0), array), initializer.name))
    return flushed


def fold_affine(model: onnx.ModelProto) -> int:
    """Folds a multiplication or addition by channel that follows a convolution into it; says how many."""
    folding = _Folding(model.graph)
    for node in model.graph.node:
        if node.op_type == "Conv":
            folding.fold_into(node)
    folding.drop_folded()
    return len(folding.folded)


class _Folding:
    """The graph with its constants and with who reads what."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        self._graph = graph
        self._constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
        self._readers: dict[str, list[onnx.NodeProto]] = defaultdict(list)
        for node in graph.node:
            for name in node.input:
                self._readers[name].append(node)
        self.folded: list[str] = []

    def fold_into(self, convolution: onnx.NodeProto) -> None:
        weights = self._constants[convolution.input[1]].astype(np.float64)
        has_bias = len(convolution.input) > 2
        bias = self._constants[convolution.input[2]].astype(np.float64) if has_bias else np.zeros(len(weights))
        end = convolution.output[0]
        while (step := self._next_step(end, len(weights))) is not None:
            node, factor = step
            if node.op_type == "Mul":
                weights, bias = weights * factor.reshape(-1, 1, 1, 1), bias * factor
            else:
                bias = bias + factor
            end = node.output[0]
            self.folded.append(end)
        if end != convolution.output[0]:
            self._replace(convolution, weights, bias, end)

    def _next_step(self, name: str, channels: int) -> tuple[onnx.NodeProto, NDArray[np.float64]] | None:
        """The only reader of the value, if it multiplies or adds a constant that has one number, or one by channel."""
        readers = self._readers[name]
        if len(readers) != 1 or readers[0].op_type not in ("Mul", "Add"):
            return None
        others = [one for one in readers[0].input if one != name]
        if len(others) != 1 or others[0] not in self._constants:
            return None
        factor = self._constants[others[0]].astype(np.float64)
        by_channel = factor.ndim >= 3 and factor.shape[-3:] == (channels, 1, 1)
        if factor.size != 1 and not (by_channel and factor.size == channels):
            return None
        return readers[0], factor.reshape(-1)

    def _replace(
        self, convolution: onnx.NodeProto, weights: NDArray[np.float64], bias: NDArray[np.float64], end: str
    ) -> None:
        names = [f"{end}_weights", f"{end}_bias"]
        for name, array in zip(names, (weights, bias), strict=True):
            self._graph.initializer.append(numpy_helper.from_array(array.astype(np.float32), name))
        picture = convolution.input[0]
        del convolution.input[:]
        convolution.input.extend([picture, *names])
        convolution.output[0] = end

    def drop_folded(self) -> None:
        folded = set(self.folded)
        kept = [node for node in self._graph.node if node.op_type == "Conv" or not folded & set(node.output)]
        used = {name for node in kept for name in node.input}
        constants = [one for one in self._graph.initializer if one.name in used]
        del self._graph.node[:], self._graph.initializer[:]
        self._graph.node.extend(kept)
        self._graph.initializer.extend(constants)
