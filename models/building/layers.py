"""The layers that our nets are made of, added to a graph."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from building.graph import TO_CHANNELS_FIRST, Array, Graph, Tensor

Floats = NDArray[np.float32]


class UnknownLayerError(Exception):
    """A source has a layer, or a setting of one, that its reader does not know."""


def convolve(
    graph: Graph,
    picture: Tensor,
    *,
    weights: Floats,
    bias: Floats | None = None,
    strides: Sequence[int] = (1, 1),
    same: bool = False,
    groups: int = 1,
) -> Tensor:
    """Weights are [out, in / groups, height, width]. `same` pads so that only the strides shrink the picture."""
    inputs = [graph.lay_out(picture, channels_first=True).name, graph.add_constant(weights)]
    if bias is not None:
        inputs.append(graph.add_constant(bias.reshape(-1)))
    shape = {"kernel_shape": list(weights.shape[2:]), "strides": list(strides), **_padding(same)}
    return Tensor(graph.add_node("Conv", inputs, group=groups, **shape), 4, channels_first=True)


def max_pool(
    graph: Graph, picture: Tensor, *, kernel: Sequence[int], strides: Sequence[int], same: bool = False
) -> Tensor:
    first = graph.lay_out(picture, channels_first=True)
    shape = {"kernel_shape": list(kernel), "strides": list(strides), **_padding(same)}
    return replace(first, name=graph.add_node("MaxPool", [first.name], **shape))


def _padding(same: bool) -> dict[str, object]:
    # Zeros, not auto_pad="VALID": only then does the runtime draw a Pad into the convolution after it.
    return {"auto_pad": "SAME_UPPER"} if same else {"pads": [0, 0, 0, 0]}


def average_picture(graph: Graph, picture: Tensor) -> Tensor:
    """The mean of every channel: [n, channel]."""
    first = graph.lay_out(picture, channels_first=True)
    return Tensor(graph.add_node("Flatten", [graph.add_node("GlobalAveragePool", [first.name])], axis=1), 2)


def apply_prelu(graph: Graph, picture: Tensor, slopes: Floats) -> Tensor:
    """slope * x + (1 - slope) * relu(x), as two 1x1 convolutions with a weight for each channel.

    ONNX Runtime's own PRelu leaves the blocked layout of its convolutions: three times slower on a CPU, same result.
    """
    weights = slopes.reshape(-1, 1, 1, 1)
    channels, rest = len(weights), 1 - weights
    part = convolve(graph, picture, weights=weights, groups=channels)
    if (rest >= 0).all():  # then the factor may go inside, and the runtime joins convolution and Relu
        return combine(
            graph, "Add", part, apply(graph, "Relu", convolve(graph, picture, weights=rest, groups=channels))
        )
    return combine(graph, "Add", part, convolve(graph, apply(graph, "Relu", picture), weights=rest, groups=channels))


def apply(graph: Graph, kind: str, tensor: Tensor, **attributes: object) -> Tensor:
    """A function of each element by itself, such as Relu."""
    return replace(tensor, name=graph.add_node(kind, [tensor.name], **attributes))


def combine(graph: Graph, kind: str, left: Tensor, right: Tensor | Array) -> Tensor:
    """Elementwise Add, Sub or Mul. A constant broadcasts over its last axis, the channels, as the sources have it."""
    if isinstance(right, Tensor):
        other = graph.lay_out(right, channels_first=left.channels_first).name
    elif left.channels_first:
        spread = right.reshape((1,) * (4 - right.ndim) + right.shape)
        other = graph.add_constant(spread.transpose(TO_CHANNELS_FIRST))
    else:
        other = graph.add_constant(right)
    return replace(left, name=graph.add_node(kind, [left.name, other]))


def pad(graph: Graph, tensor: Tensor, amounts: NDArray[np.integer], value: float = 0.0) -> Tensor:
    """Amounts are [axis, (before, after)]."""
    ordered = amounts[list(TO_CHANNELS_FIRST)] if tensor.channels_first else amounts
    before_then_after = graph.add_constant(ordered.T.reshape(-1).astype(np.int64))
    inputs = [tensor.name, before_then_after, graph.add_constant(np.array(value, np.float32))]
    return replace(tensor, name=graph.add_node("Pad", inputs, mode="constant"))


def concatenate(graph: Graph, tensors: Sequence[Tensor], axis: int) -> Tensor:
    first = tensors[0]
    names = [graph.lay_out(tensor, channels_first=first.channels_first).name for tensor in tensors]
    return replace(first, name=graph.add_node("Concat", names, axis=_axis_of_data(first, axis)))


def split(graph: Graph, tensor: Tensor, *, sizes: NDArray[np.integer], axis: int) -> list[Tensor]:
    inputs = [tensor.name, graph.add_constant(sizes.astype(np.int64))]
    names = graph.add_nodes("Split", inputs, len(sizes), axis=_axis_of_data(tensor, axis))
    return [replace(tensor, name=name) for name in names]


def _axis_of_data(tensor: Tensor, axis: int) -> int:
    """Where the source's axis lies in the data."""
    positive = axis % tensor.rank
    return TO_CHANNELS_FIRST.index(positive) if tensor.channels_first else positive


def resize(graph: Graph, picture: Tensor, size: NDArray[np.integer]) -> Tensor:
    """Bilinear, by pixel centres, to [height, width]."""
    first = graph.lay_out(picture, channels_first=True)
    # Resize can take height and width alone, but ONNX Runtime's handling of transposes then fails beside it.
    kept = graph.add_node("Shape", [first.name], start=0, end=2)
    sizes = graph.add_node("Concat", [kept, graph.add_constant(size.astype(np.int64))], axis=0)
    how = {"mode": "linear", "coordinate_transformation_mode": "half_pixel"}
    return replace(first, name=graph.add_node("Resize", [first.name, "", "", sizes], **how))


def reshape(graph: Graph, tensor: Tensor, shape: NDArray[np.integer]) -> Tensor:
    """A 0 in the shape keeps that axis as it is."""
    last = graph.lay_out(tensor, channels_first=False)
    return Tensor(graph.add_node("Reshape", [last.name, graph.add_constant(shape.astype(np.int64))]), len(shape))


def transpose(graph: Graph, tensor: Tensor, order: Sequence[int]) -> Tensor:
    """Between the two layouts of a picture nothing moves: the data stay, and are seen in another way."""
    if tensor.rank == 4 and tuple(order) == TO_CHANNELS_FIRST:
        return replace(graph.lay_out(tensor, channels_first=True), channels_first=False)
    if tensor.rank == 4 and not tensor.channels_first and tuple(order) == (0, 2, 3, 1):
        return replace(tensor, channels_first=True)
    last = graph.lay_out(tensor, channels_first=False)
    return Tensor(graph.add_node("Transpose", [last.name], perm=list(order)), tensor.rank)
