"""Reads a TensorFlow.js graph model of the kinds of layers that mini-Xception and NanoDet have."""

from base64 import b64decode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
from numpy.typing import NDArray

from building import layers
from building.graph import Array, Graph, Tensor
from building.layers import UnknownLayerError
from building.weights import read_json, read_weights

INPUT = "input"
Floats = NDArray[np.float32]
Integers = NDArray[np.int32]


def convert_tfjs(
    topology: Path,
    weights: Path,
    *,
    input_shape: Sequence[int | str],
    outputs: dict[str, str],
) -> onnx.ModelProto:
    """The net for that input. `outputs` gives the source's name for each of ours."""
    document = read_json(topology)
    constants = read_weights(document["weightsManifest"], weights.read_bytes())
    net = _TfjsNet(constants, input_rank=len(input_shape))
    net.add_layers(document["modelTopology"]["node"])
    found = {ours: net.tensor(theirs) for ours, theirs in outputs.items()}
    return net.graph.finish(topology.stem, inputs={INPUT: input_shape}, outputs=found)


@dataclass(frozen=True)
class _Node:
    """One node of the topology."""

    kind: str
    inputs: tuple[str, ...]
    attributes: dict[str, Any]

    def integers(self, name: str) -> list[int]:
        return [int(value) for value in self.attributes[name]["list"]["i"]]

    def texts(self, name: str) -> list[str]:
        listed = self.attributes.get(name, {}).get("list", {}).get("s", [])
        return [b64decode(value).decode() for value in listed]

    @property
    def same(self) -> bool:
        return b64decode(self.attributes["padding"]["s"]) == b"SAME"


class _TfjsNet:
    """Values by the name of the node that makes them: constants, or tensors of the graph."""

    def __init__(self, constants: dict[str, Array], *, input_rank: int) -> None:
        self.graph = Graph()
        self._constants = dict(constants)
        self._tensors: dict[str, list[Tensor]] = {}
        self._input = Tensor(INPUT, input_rank)

    def add_layers(self, nodes: list[dict[str, Any]]) -> None:
        by_name = {node["name"]: _Node(node["op"], tuple(node.get("input", ())), node["attr"]) for node in nodes}
        needs = {name: [one.partition(":")[0] for one in node.inputs] for name, node in by_name.items()}
        for name in TopologicalSorter(needs).static_order():
            node = by_name[name]
            if node.kind == "Placeholder":
                self._tensors[name] = [self._input]
            elif node.kind != "Const":
                self._add_layer(name, node)

    def _add_layer(self, name: str, node: _Node) -> None:
        if node.kind in _FOLDED and all(one in self._constants for one in node.inputs):
            self._constants[name] = _FOLDED[node.kind](*(self._constants[one] for one in node.inputs))
        elif node.kind == "SplitV":
            self._tensors[name] = _split(self, node)
        elif node.kind in _LAYERS:
            self._tensors[name] = [_LAYERS[node.kind](self, node)]
        else:
            raise UnknownLayerError(f"{node.kind} ({name})")

    def tensor(self, reference: str) -> Tensor:
        """By `name`, or `name:2` for the third output."""
        name, _, position = reference.partition(":")
        return self._tensors[name][int(position or 0)]

    def value(self, reference: str) -> Tensor | Array:
        return self._constants[reference] if reference in self._constants else self.tensor(reference)

    def floats(self, reference: str) -> Floats:
        return cast(Floats, self._constants[reference])

    def integers(self, reference: str) -> Integers:
        return cast(Integers, self._constants[reference])


def _densify(positions: Array, shape: Array, values: Array, default: Array) -> Array:
    dense: Array = np.full(cast(Integers, shape).reshape(-1), default, values.dtype)
    dense[tuple(cast(Integers, positions).reshape(-1, dense.ndim).T)] = values
    return dense


_FOLDED: dict[str, Callable[..., Array]] = {"SparseToDense": _densify, "AddV2": np.add}


def _convolve(net: _TfjsNet, node: _Node) -> Tensor:
    weights = net.floats(node.inputs[1]).transpose(3, 2, 0, 1)
    return _convolution(net, node, weights=weights, groups=1)


def _convolve_depthwise(net: _TfjsNet, node: _Node) -> Tensor:
    weights = net.floats(node.inputs[1])
    height, width, channels, multiplier = weights.shape
    apart = weights.transpose(2, 3, 0, 1).reshape(channels * multiplier, 1, height, width)
    return _convolution(net, node, weights=apart, groups=channels)


def _convolution(net: _TfjsNet, node: _Node, *, weights: Floats, groups: int) -> Tensor:
    fused = node.texts("fused_ops")
    if node.integers("dilations") != [1, 1, 1, 1] or fused not in ([], ["BiasAdd"], ["BiasAdd", "Relu"]):
        raise UnknownLayerError(f"a convolution with {node.attributes}")
    picture = layers.convolve(
        net.graph,
        net.tensor(node.inputs[0]),
        weights=weights,
        bias=net.floats(node.inputs[2]) if fused else None,
        strides=node.integers("strides")[1:3],
        same=node.same,
        groups=groups,
    )
    return layers.apply(net.graph, "Relu", picture) if "Relu" in fused else picture


def _max_pool(net: _TfjsNet, node: _Node) -> Tensor:
    picture, kernel, strides = net.tensor(node.inputs[0]), node.integers("ksize")[1:3], node.integers("strides")[1:3]
    return layers.max_pool(net.graph, picture, kernel=kernel, strides=strides, same=node.same)


def _add(net: _TfjsNet, node: _Node) -> Tensor:
    return layers.combine(net.graph, "Add", net.tensor(node.inputs[0]), net.value(node.inputs[1]))


def _identity(net: _TfjsNet, node: _Node) -> Tensor:
    return net.tensor(node.inputs[0])


def _relu(net: _TfjsNet, node: _Node) -> Tensor:
    return layers.apply(net.graph, "Relu", net.tensor(node.inputs[0]))


def _leaky_relu(net: _TfjsNet, node: _Node) -> Tensor:
    return layers.apply(net.graph, "LeakyRelu", net.tensor(node.inputs[0]), alpha=node.attributes["alpha"]["f"])


def _sigmoid(net: _TfjsNet, node: _Node) -> Tensor:
    return layers.apply(net.graph, "Sigmoid", net.tensor(node.inputs[0]))


def _softmax(net: _TfjsNet, node: _Node) -> Tensor:
    return layers.apply(net.graph, "Softmax", net.tensor(node.inputs[0]), axis=-1)


def _mean(net: _TfjsNet, node: _Node) -> Tensor:
    if net.integers(node.inputs[1]).tolist() != [1, 2] or node.attributes["keep_dims"]["b"]:
        raise UnknownLayerError("a mean over anything but the whole picture")
    return layers.average_picture(net.graph, net.tensor(node.inputs[0]))


def _pad(net: _TfjsNet, node: _Node) -> Tensor:
    value = float(net.floats(node.inputs[2])) if len(node.inputs) > 2 else 0.0
    return layers.pad(net.graph, net.tensor(node.inputs[0]), net.integers(node.inputs[1]), value)


def _concatenate(net: _TfjsNet, node: _Node) -> Tensor:
    *parts, axis = node.inputs
    return layers.concatenate(net.graph, [net.tensor(part) for part in parts], int(net.integers(axis)))


def _split(net: _TfjsNet, node: _Node) -> list[Tensor]:
    tensor, sizes, axis = node.inputs
    return layers.split(net.graph, net.tensor(tensor), sizes=net.integers(sizes), axis=int(net.integers(axis)))


def _resize(net: _TfjsNet, node: _Node) -> Tensor:
    if not node.attributes["half_pixel_centers"]["b"] or node.attributes["align_corners"]["b"]:
        raise UnknownLayerError("a resize that is not by pixel centres")
    return layers.resize(net.graph, net.tensor(node.inputs[0]), net.integers(node.inputs[1]))


def _reshape(net: _TfjsNet, node: _Node) -> Tensor:
    return layers.reshape(net.graph, net.tensor(node.inputs[0]), net.integers(node.inputs[1]))


def _transpose(net: _TfjsNet, node: _Node) -> Tensor:
    return layers.transpose(net.graph, net.tensor(node.inputs[0]), net.integers(node.inputs[1]).tolist())


_LAYERS: dict[str, Callable[[_TfjsNet, _Node], Tensor]] = {
    "Add": _add,
    "AddV2": _add,
    "ConcatV2": _concatenate,
    "Conv2D": _convolve,
    "DepthwiseConv2dNative": _convolve_depthwise,
    "Identity": _identity,
    "LeakyRelu": _leaky_relu,
    "MaxPool": _max_pool,
    "Mean": _mean,
    "Pad": _pad,
    "PadV2": _pad,
    "Relu": _relu,
    "Reshape": _reshape,
    "ResizeBilinear": _resize,
    "Sigmoid": _sigmoid,
    "Softmax": _softmax,
    "Transpose": _transpose,
    "_FusedConv2D": _convolve,
}
