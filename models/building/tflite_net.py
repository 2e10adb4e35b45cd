"""Reads a .tflite file of the kinds of layers that MediaPipe's face and iris nets have."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import tflite
from numpy.typing import NDArray

from building import layers
from building.graph import Array, Graph, Tensor
from building.layers import UnknownLayerError

TYPES: dict[int, type[np.generic]] = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.FLOAT16: np.float16,
    tflite.TensorType.INT32: np.int32,
}


def convert_tflite(file: Path, *, outputs: tuple[str, ...]) -> onnx.ModelProto:
    """The net with a free batch size, and with its outputs named as given."""
    net = _TfliteNet(tflite.Model.GetRootAs(file.read_bytes(), 0))
    inputs = net.open_inputs()
    net.add_layers()
    return net.graph.finish(file.stem, inputs=inputs, outputs=dict(zip(outputs, net.outputs(), strict=True)))


class _TfliteNet:
    """The net's only subgraph, read operator by operator; a value is known by its number."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._subgraph = model.Subgraphs(0)
        self.graph = Graph()
        self._tensors: dict[int, Tensor] = {}
        self._constants: dict[int, Array] = {}
        for number in range(self._subgraph.TensorsLength()):
            self._read_constant(number)

    def _read_constant(self, number: int) -> None:
        tensor = self._subgraph.Tensors(number)
        buffer = self._model.Buffers(tensor.Buffer())
        if buffer.DataLength() == 0:
            return
        if tensor.Sparsity() is not None:
            raise UnknownLayerError(f"sparse weights in {tensor.Name().decode()}")
        flat = np.frombuffer(buffer.DataAsNumpy().tobytes(), TYPES[tensor.Type()])
        self._constants[number] = flat.reshape(tensor.ShapeAsNumpy())

    def open_inputs(self) -> dict[str, list[int | str]]:
        shapes: dict[str, list[int | str]] = {}
        for number in self._subgraph.InputsAsNumpy():
            tensor = self._subgraph.Tensors(number)
            name, shape = tensor.Name().decode(), tensor.ShapeAsNumpy().tolist()
            shapes[name] = ["N", *shape[1:]]
            self._tensors[number] = Tensor(name, len(shape))
        return shapes

    def outputs(self) -> list[Tensor]:
        return [self._tensors[number] for number in self._subgraph.OutputsAsNumpy()]

    def add_layers(self) -> None:
        for index in range(self._subgraph.OperatorsLength()):
            operator = self._subgraph.Operators(index)
            code = self._model.OperatorCodes(operator.OpcodeIndex())
            kind = max(code.BuiltinCode(), code.DeprecatedBuiltinCode())
            if kind == tflite.BuiltinOperator.DEQUANTIZE:  # weights stored as float16
                self._constants[operator.Outputs(0)] = self._constants[operator.Inputs(0)].astype(np.float32)
            elif kind in _LAYERS:
                self._tensors[operator.Outputs(0)] = _LAYERS[kind](self, operator)
            else:
                raise UnknownLayerError(f"operator {kind} of the tflite schema")

    def tensor(self, operator: Any, position: int = 0) -> Tensor:
        return self._tensors[operator.Inputs(position)]

    def constant(self, operator: Any, position: int) -> Array:
        return self._constants[operator.Inputs(position)]

    def floats(self, operator: Any, position: int) -> NDArray[np.float32]:
        return cast(NDArray[np.float32], self.constant(operator, position))

    def output_shape(self, operator: Any) -> NDArray[np.int64]:
        return cast(NDArray[np.int64], self._subgraph.Tensors(operator.Outputs(0)).ShapeAsNumpy().astype(np.int64))


def _options(operator: Any, kind: Callable[[], Any]) -> Any:
    options, table = kind(), operator.BuiltinOptions()
    options.Init(table.Bytes, table.Pos)
    if options.FusedActivationFunction() != tflite.ActivationFunctionType.NONE:
        raise UnknownLayerError("a fused activation")
    return options


def _convolve(net: _TfliteNet, operator: Any) -> Tensor:
    options = _options(operator, tflite.Conv2DOptions)
    weights = net.floats(operator, 1).transpose(0, 3, 1, 2)
    return _convolution(net, operator, options, weights=weights, groups=1)


def _convolve_depthwise(net: _TfliteNet, operator: Any) -> Tensor:
    options = _options(operator, tflite.DepthwiseConv2DOptions)
    weights = net.floats(operator, 1).transpose(3, 0, 1, 2)
    return _convolution(net, operator, options, weights=weights, groups=len(weights))


def _convolution(net: _TfliteNet, operator: Any, options: Any, *, weights: NDArray[np.float32], groups: int) -> Tensor:
    if (options.DilationHFactor(), options.DilationWFactor()) != (1, 1):
        raise UnknownLayerError("a dilated convolution")
    return layers.convolve(
        net.graph,
        net.tensor(operator),
        weights=weights,
        bias=net.floats(operator, 2),
        strides=(options.StrideH(), options.StrideW()),
        same=options.Padding() == tflite.Padding.SAME,
        groups=groups,
    )


def _max_pool(net: _TfliteNet, operator: Any) -> Tensor:
    options = _options(operator, tflite.Pool2DOptions)
    return layers.max_pool(
        net.graph,
        net.tensor(operator),
        kernel=(options.FilterHeight(), options.FilterWidth()),
        strides=(options.StrideH(), options.StrideW()),
        same=options.Padding() == tflite.Padding.SAME,
    )


def _add(net: _TfliteNet, operator: Any) -> Tensor:
    _options(operator, tflite.AddOptions)
    return layers.combine(net.graph, "Add", net.tensor(operator, 0), net.tensor(operator, 1))


def _prelu(net: _TfliteNet, operator: Any) -> Tensor:
    return layers.apply_prelu(net.graph, net.tensor(operator), net.floats(operator, 1))


def _pad(net: _TfliteNet, operator: Any) -> Tensor:
    return layers.pad(net.graph, net.tensor(operator), cast(NDArray[np.int32], net.constant(operator, 1)))


def _reshape(net: _TfliteNet, operator: Any) -> Tensor:
    shape = net.output_shape(operator)
    shape[0] = 0  # the batch stays free
    return layers.reshape(net.graph, net.tensor(operator), shape)


_LAYERS: dict[int, Callable[[_TfliteNet, Any], Tensor]] = {
    tflite.BuiltinOperator.CONV_2D: _convolve,
    tflite.BuiltinOperator.DEPTHWISE_CONV_2D: _convolve_depthwise,
    tflite.BuiltinOperator.MAX_POOL_2D: _max_pool,
    tflite.BuiltinOperator.ADD: _add,
    tflite.BuiltinOperator.PRELU: _prelu,
    tflite.BuiltinOperator.PAD: _pad,
    tflite.BuiltinOperator.RESHAPE: _reshape,
}
