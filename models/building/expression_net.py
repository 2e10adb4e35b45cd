"""face-api's expression net, rebuilt by hand: its package holds the weights, and the layers only as program text."""

from pathlib import Path

import numpy as np
import onnx

from building import layers
from building.graph import Array, Graph, Tensor
from building.layers import Floats
from building.weights import read_json, read_weights

INPUT_SHAPE = ("N", 112, 112, 3)
MEAN_RGB = np.array([122.782, 117.001, 104.298], np.float32)
BLOCKS = 4


def build_expression_net(manifest: Path, weights: Path) -> onnx.ModelProto:
    """Four densely joined blocks, the mean of the picture, one linear layer, softmax."""
    arrays = read_weights(read_json(manifest), weights.read_bytes())
    graph = Graph()
    # Channels first from the start: to take the mean off pixel by pixel costs a sixth of the whole net.
    picture = graph.lay_out(Tensor("input", 4), channels_first=True)
    picture = layers.combine(graph, "Sub", picture, MEAN_RGB)
    picture = layers.combine(graph, "Mul", picture, np.array(1 / 255, np.float32))
    for block in range(BLOCKS):
        picture = _add_block(graph, picture, _BlockWeights(arrays, block))
    means = layers.average_picture(graph, picture)
    inputs = [means.name, graph.add_constant(arrays["fc/weights"]), graph.add_constant(arrays["fc/bias"])]
    logits = Tensor(graph.add_node("Gemm", inputs), 2)
    probabilities = layers.apply(graph, "Softmax", logits, axis=-1)
    return graph.finish("face_expression", inputs={"input": INPUT_SHAPE}, outputs={"probabilities": probabilities})


class _BlockWeights:
    """The arrays of one block; its four convolutions are numbered from 0."""

    def __init__(self, arrays: dict[str, Array], block: int) -> None:
        self._arrays = arrays
        self._block = block

    def has(self, convolution: int, name: str) -> bool:
        return f"dense{self._block}/conv{convolution}/{name}" in self._arrays

    def get(self, convolution: int, name: str) -> Floats:
        return self._arrays[f"dense{self._block}/conv{convolution}/{name}"].astype(np.float32)


def _add_block(graph: Graph, picture: Tensor, weights: _BlockWeights) -> Tensor:
    """Each convolution reads the sum of all that came before it in the block."""
    total = layers.apply(graph, "Relu", _convolve(graph, picture, weights, 0, stride=2))
    read = total
    for convolution in (1, 2, 3):
        total = layers.combine(graph, "Add", total, _convolve(graph, read, weights, convolution))
        read = layers.apply(graph, "Relu", total)
    return read


def _convolve(graph: Graph, picture: Tensor, weights: _BlockWeights, convolution: int, *, stride: int = 1) -> Tensor:
    """A plain convolution at the very first place, elsewhere one for each channel and one across the channels."""
    bias, strides = weights.get(convolution, "bias"), (stride, stride)
    if weights.has(convolution, "filters"):
        filters = weights.get(convolution, "filters").transpose(3, 2, 0, 1)
        return layers.convolve(graph, picture, weights=filters, bias=bias, strides=strides, same=True)
    each = weights.get(convolution, "depthwise_filter").transpose(2, 3, 0, 1)
    across = weights.get(convolution, "pointwise_filter").transpose(3, 2, 0, 1)
    inner = layers.convolve(graph, picture, weights=each, strides=strides, same=True, groups=len(each))
    return layers.convolve(graph, inner, weights=across, bias=bias)
