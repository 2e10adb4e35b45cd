"""An ONNX graph in the making, whose pictures may lie channels last, as the sources say, or channels first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

OPSET = 18
IR_VERSION = 9
TO_CHANNELS_FIRST = (0, 3, 1, 2)
TO_CHANNELS_LAST = (0, 2, 3, 1)
SHARED_BELOW_BYTES = 4096

Array = NDArray[np.generic]


@dataclass(frozen=True)
class Tensor:
    """A value of the graph. The source sees [n, height, width, channel]; the data may lie channels first."""

    name: str
    rank: int
    channels_first: bool = False


class Graph:
    """Nodes and constants, in order. A picture is transposed only where its layout must change, and only once."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._initializers: list[TensorProto] = []
        self._shared: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._transposed: dict[Tensor, str] = {}
        self._count = 0

    def _fresh_name(self, stem: str) -> str:
        self._count += 1
        return f"{stem}_{self._count}"

    def add_constant(self, value: Array) -> str:
        array = np.array(value, order="C")  # a copy: onnx takes no view
        key = (array.dtype.str, array.shape, array.tobytes())
        if key in self._shared:
            return self._shared[key]
        name = self._fresh_name("constant")
        self._initializers.append(numpy_helper.from_array(array, name))
        if array.nbytes < SHARED_BELOW_BYTES:
            self._shared[key] = name
        return name

    def add_node(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        return self.add_nodes(kind, inputs, 1, **attributes)[0]

    def add_nodes(self, kind: str, inputs: Sequence[str], count: int, **attributes: Any) -> list[str]:
        """One node with `count` outputs."""
        outputs = [self._fresh_name(kind.lower()) for _ in range(count)]
        self._nodes.append(helper.make_node(kind, list(inputs), outputs, **attributes))
        return outputs

    def lay_out(self, tensor: Tensor, *, channels_first: bool) -> Tensor:
        """The same picture, laid out as wanted."""
        if tensor.rank != 4 or tensor.channels_first == channels_first:
            return tensor
        if tensor not in self._transposed:
            order = TO_CHANNELS_FIRST if channels_first else TO_CHANNELS_LAST
            self._transposed[tensor] = self.add_node("Transpose", [tensor.name], perm=list(order))
        return replace(tensor, name=self._transposed[tensor], channels_first=channels_first)

    def finish(
        self, title: str, *, inputs: Mapping[str, Sequence[int | str]], outputs: dict[str, Tensor]
    ) -> onnx.ModelProto:
        """The model: inputs by name with their shape, outputs by name, as the source sees them."""
        for name, tensor in outputs.items():
            seen = self.lay_out(tensor, channels_first=False)
            self._nodes.append(helper.make_node("Identity", [seen.name], [name]))
        graph = helper.make_graph(
            self._nodes,
            title,
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            self._initializers,
        )
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="onlooker-models")
        return infer_output_shapes(model)


def infer_output_shapes(model: onnx.ModelProto) -> onnx.ModelProto:
    inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
    del inferred.graph.value_info[:]  # the runtime infers them again; only those of the outputs are of use
    return inferred
