"""face-api's age and gender net, rebuilt by hand: its package holds the weights, the layers only as program text."""

from pathlib import Path

import numpy as np
import onnx

from building import layers
from building.graph import Array, Graph, Tensor
from building.weights import read_json, read_weights

INPUT_SHAPE = ("N", 112, 112, 3)
MEAN_RGB = np.array([122.782, 117.001, 104.298], np.float32)
MAIN_BLOCKS = 2


def build_age_net(manifest: Path, weights: Path) -> onnx.ModelProto:
    """A small Xception; from the mean of its last picture one linear layer says the years, another male or female."""
    net = _Net(read_weights(read_json(manifest), weights.read_bytes()))
    graph = net.graph
    # Channels first from the start: to take the mean off pixel by pixel costs a sixth of the whole net.
    picture = graph.lay_out(Tensor("input", 4), channels_first=True)
    picture = layers.combine(graph, "Sub", picture, MEAN_RGB)
    picture = layers.combine(graph, "Mul", picture, np.array(1 / 255, np.float32))
    picture = net.relu(net.convolve(picture, "entry_flow/conv_in"))
    picture = net.reduce(picture, "entry_flow/reduction_block_0", activate=False)
    picture = net.reduce(picture, "entry_flow/reduction_block_1")
    for block in range(MAIN_BLOCKS):
        picture = net.keep(picture, f"middle_flow/main_block_{block}")
    picture = net.reduce(picture, "exit_flow/reduction_block")
    picture = net.relu(net.separate(picture, "exit_flow/separable_conv"))
    means = layers.average_picture(graph, picture)
    gender = layers.apply(graph, "Softmax", net.connect(means, "fc/gender"), axis=-1)
    outputs = {"age": net.connect(means, "fc/age"), "gender": gender}
    return graph.finish("age_gender", inputs={"input": INPUT_SHAPE}, outputs=outputs)


class _Net:
    """The graph in the making, and the weights by the names that face-api gave them."""

    def __init__(self, arrays: dict[str, Array]) -> None:
        self.graph = Graph()
        self._arrays = arrays

    def relu(self, picture: Tensor) -> Tensor:
        return layers.apply(self.graph, "Relu", picture)

    def convolve(self, picture: Tensor, place: str) -> Tensor:
        """Halves the picture."""
        filters, bias = self._filters(place, "filters"), self._array(place, "bias")
        return layers.convolve(self.graph, picture, weights=filters, bias=bias, strides=(2, 2), same=True)

    def separate(self, picture: Tensor, place: str) -> Tensor:
        """A convolution for each channel, then one across the channels."""
        each = self._array(place, "depthwise_filter").transpose(2, 3, 0, 1)
        inner = layers.convolve(self.graph, picture, weights=each, same=True, groups=len(each))
        across, bias = self._filters(place, "pointwise_filter"), self._array(place, "bias")
        return layers.convolve(self.graph, inner, weights=across, bias=bias)

    def reduce(self, picture: Tensor, place: str, *, activate: bool = True) -> Tensor:
        """Halves the picture and adds channels, with a shortcut around it."""
        inner = self.separate(self.relu(picture) if activate else picture, f"{place}/separable_conv0")
        inner = self.separate(self.relu(inner), f"{place}/separable_conv1")
        inner = layers.max_pool(self.graph, inner, kernel=(3, 3), strides=(2, 2), same=True)
        return layers.combine(self.graph, "Add", inner, self.convolve(picture, f"{place}/expansion_conv"))

    def keep(self, picture: Tensor, place: str) -> Tensor:
        inner = picture
        for convolution in range(3):
            inner = self.separate(self.relu(inner), f"{place}/separable_conv{convolution}")
        return layers.combine(self.graph, "Add", inner, picture)

    def connect(self, means: Tensor, place: str) -> Tensor:
        constants = [self.graph.add_constant(self._arrays[f"{place}/{name}"]) for name in ("weights", "bias")]
        return Tensor(self.graph.add_node("Gemm", [means.name, *constants]), 2)

    def _filters(self, place: str, name: str) -> layers.Floats:
        return self._array(place, name).transpose(3, 2, 0, 1)

    def _array(self, place: str, name: str) -> layers.Floats:
        return self._arrays[f"{place}/{name}"].astype(np.float32)
