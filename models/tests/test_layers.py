"""Every layer against plain arithmetic in NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from building import layers
from building.graph import Graph, Tensor
from running import Floats, random_floats, run_layers


def convolve_plainly(picture: Floats, weights: Floats, *, stride: int, same: bool) -> Floats:
    """TensorFlow's convolution of [n, h, w, c] by [out, in, h, w], written out; `same` pads more after than before."""
    size = weights.shape[2]
    if same:
        totals = [max((math.ceil(side / stride) - 1) * stride + size - side, 0) for side in picture.shape[1:3]]
        picture = np.pad(picture, [(0, 0), *((total // 2, total - total // 2) for total in totals), (0, 0)])
    rows, columns = ((side - size) // stride + 1 for side in picture.shape[1:3])
    result = np.zeros((len(picture), rows, columns, len(weights)), np.float32)
    for row in range(rows):
        for column in range(columns):
            top, left = row * stride, column * stride
            window = picture[:, top : top + size, left : left + size]
            result[:, row, column] = np.einsum("nhwc,ochw->no", window, weights)
    return result


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("side", [7, 8])
def test_convolution_pads_and_strides_as_tensorflow_does(side: int, stride: int, same: bool) -> None:
    picture, weights, bias = (
        random_floats(2, side, side, 3),
        random_floats(4, 3, 3, 3, seed=1),
        random_floats(4, seed=2),
    )

    def add(graph: Graph, tensor: Tensor) -> Tensor:
        return layers.convolve(graph, tensor, weights=weights, bias=bias, strides=(stride, stride), same=same)

    expected = convolve_plainly(picture, weights, stride=stride, same=same) + bias
    np.testing.assert_allclose(run_layers(picture, add)[0], expected, atol=1e-5)


def test_convolution_in_groups_keeps_channels_apart() -> None:
    picture, weights = random_floats(1, 5, 5, 3), random_floats(3, 1, 3, 3, seed=1)
    found = run_layers(picture, lambda graph, it: layers.convolve(graph, it, weights=weights, groups=3))[0]
    for channel in range(3):
        alone = picture[..., channel : channel + 1]
        expected = convolve_plainly(alone, weights[channel : channel + 1], stride=1, same=False)
        np.testing.assert_allclose(found[..., channel : channel + 1], expected, atol=1e-5)


slopes_below_and_above_one = st.lists(st.floats(-2, 3, width=32), min_size=1, max_size=6)


@settings(max_examples=60, deadline=None)
@given(slopes=slopes_below_and_above_one, seed=st.integers(0, 1000))
def test_prelu_by_convolutions_is_prelu(slopes: list[float], seed: int) -> None:
    picture, each = random_floats(2, 4, 3, len(slopes), seed=seed), np.array(slopes, np.float32)
    found = run_layers(picture, lambda graph, it: layers.apply_prelu(graph, it, each.reshape(1, 1, -1)))[0]
    np.testing.assert_allclose(found, np.where(picture > 0, picture, each * picture), atol=2e-6)


def test_max_pool_pads_with_nothing() -> None:
    picture = -1 - np.abs(random_floats(1, 5, 5, 2))
    found = run_layers(picture, lambda graph, it: layers.max_pool(graph, it, kernel=(2, 2), strides=(2, 2), same=True))[
        0
    ]
    padded = np.pad(picture, [(0, 0), (0, 1), (0, 1), (0, 0)], constant_values=-np.inf)
    np.testing.assert_array_equal(found, padded.reshape(1, 3, 2, 3, 2, 2).max(axis=(2, 4)))


def as_channels_first(graph: Graph, tensor: Tensor) -> Tensor:
    return graph.lay_out(tensor, channels_first=True)


@pytest.mark.parametrize("channels_first", [True, False])
class TestInBothLayouts:
    """A layer gives the same result wherever the channels lie."""

    def test_constant_adds_to_its_channels(self, channels_first: bool) -> None:
        picture, constant = random_floats(1, 3, 4, 5), random_floats(5, seed=1)

        def add(graph: Graph, tensor: Tensor) -> Tensor:
            return layers.combine(graph, "Add", graph.lay_out(tensor, channels_first=channels_first), constant)

        np.testing.assert_array_equal(run_layers(picture, add)[0], picture + constant)

    def test_pad_names_the_sources_axes(self, channels_first: bool) -> None:
        picture, amounts = random_floats(1, 3, 4, 2), np.array([[0, 0], [1, 0], [0, 2], [0, 3]])

        def add(graph: Graph, tensor: Tensor) -> Tensor:
            return layers.pad(graph, graph.lay_out(tensor, channels_first=channels_first), amounts, 7.0)

        np.testing.assert_array_equal(run_layers(picture, add)[0], np.pad(picture, amounts, constant_values=7.0))

    @pytest.mark.parametrize("axis", [1, 2, 3, -1])
    def test_concatenation_and_split_name_the_sources_axes(self, channels_first: bool, axis: int) -> None:
        picture = random_floats(1, 4, 4, 4)

        def add(graph: Graph, tensor: Tensor) -> list[Tensor]:
            laid = graph.lay_out(tensor, channels_first=channels_first)
            return [
                layers.concatenate(graph, [laid, tensor], axis),
                *layers.split(graph, laid, sizes=np.array([1, 3]), axis=axis),
            ]

        both, first, rest = run_layers(picture, add)
        np.testing.assert_array_equal(both, np.concatenate([picture, picture], axis))
        np.testing.assert_array_equal(np.concatenate([first, rest], axis), picture)
        assert first.shape[axis] == 1

    @pytest.mark.parametrize("order", [(0, 3, 1, 2), (0, 2, 3, 1), (0, 2, 1, 3)])
    def test_transpose_is_numpys(self, channels_first: bool, order: tuple[int, ...]) -> None:
        picture = random_floats(1, 2, 3, 4)

        def add(graph: Graph, tensor: Tensor) -> Tensor:
            return layers.transpose(graph, graph.lay_out(tensor, channels_first=channels_first), order)

        np.testing.assert_array_equal(run_layers(picture, add)[0], picture.transpose(order))


def test_a_picture_is_transposed_once_and_back_for_nothing() -> None:
    graph = Graph()
    tensor = Tensor("picture", 4)
    first = graph.lay_out(tensor, channels_first=True)
    assert graph.lay_out(tensor, channels_first=True) == first
    seen = layers.transpose(graph, first, (0, 3, 1, 2))
    back = layers.transpose(graph, seen, (0, 2, 3, 1))
    assert (seen.name, back) == (first.name, first)


def test_resize_halves_and_doubles_by_pixel_centres() -> None:
    picture = random_floats(1, 4, 4, 1)
    half = run_layers(picture, lambda graph, it: layers.resize(graph, it, np.array([2, 2])))[0]
    np.testing.assert_allclose(half, picture.reshape(1, 2, 2, 2, 2, 1).mean(axis=(2, 4)), atol=1e-6)
    double = run_layers(picture, lambda graph, it: layers.resize(graph, it, np.array([8, 8])))[0]
    np.testing.assert_allclose(double[0, 0, :, 0][[0, 7]], picture[0, 0, :, 0][[0, 3]], atol=1e-6)
    np.testing.assert_allclose(double[0, 0, 1, 0], 0.75 * picture[0, 0, 0, 0] + 0.25 * picture[0, 0, 1, 0], atol=1e-6)


def test_average_and_reshape() -> None:
    picture = random_floats(2, 3, 4, 5)
    means = run_layers(picture, layers.average_picture)[0]
    np.testing.assert_allclose(means, picture.mean(axis=(1, 2)), atol=1e-6)

    def add(graph: Graph, tensor: Tensor) -> Tensor:
        return layers.reshape(graph, as_channels_first(graph, tensor), np.array([0, -1]))

    np.testing.assert_array_equal(run_layers(picture, add)[0], picture.reshape(2, -1))
