"""Clean-ups change the graph and leave its results alone."""

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from building import layers
from building.cleanups import flush_tiny_weights, fold_affine, free_input, scale_resizes
from building.graph import Graph, Tensor
from running import Floats, random_floats, run

CHANNELS = 3


def make_model(nodes: list[onnx.NodeProto], constants: dict[str, Floats], output: str) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, 2, 6, 6])],
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, [1, CHANNELS, 4, 4])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def make_chain(steps: list[tuple[str, Floats]], *, bias: bool) -> onnx.ModelProto:
    constants = {"weights": random_floats(CHANNELS, 2, 3, 3)}
    inputs = ["input", "weights"]
    if bias:
        constants["bias"] = random_floats(CHANNELS, seed=1)
        inputs.append("bias")
    nodes = [helper.make_node("Conv", inputs, ["value0"])]
    for number, (kind, constant) in enumerate(steps):
        constants[f"constant{number}"] = constant
        nodes.append(helper.make_node(kind, [f"value{number}", f"constant{number}"], [f"value{number + 1}"]))
    return make_model(nodes, constants, f"value{len(steps)}")


step = st.tuples(
    st.sampled_from(["Mul", "Add"]),
    st.lists(st.floats(-3, 3, width=32), min_size=CHANNELS, max_size=CHANNELS).map(
        lambda values: np.array(values, np.float32).reshape(1, CHANNELS, 1, 1)
    ),
)


@settings(max_examples=40, deadline=None)
@given(steps=st.lists(step, min_size=1, max_size=4), bias=st.booleans())
def test_folding_keeps_the_outputs(steps: list[tuple[str, Floats]], bias: bool) -> None:
    picture = random_floats(1, 2, 6, 6, seed=2)
    before = run(make_chain(steps, bias=bias), picture)[0]
    model = make_chain(steps, bias=bias)
    assert fold_affine(model) == len(steps)
    assert [node.op_type for node in model.graph.node] == ["Conv"]
    np.testing.assert_allclose(run(model, picture)[0], before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1, 4, 4), (4,), (1, CHANNELS, 4, 4)])
def test_what_is_not_by_channel_is_not_folded(shape: tuple[int, ...]) -> None:
    model = make_chain([("Mul", random_floats(*shape))], bias=True)
    assert fold_affine(model) == 0
    assert [node.op_type for node in model.graph.node] == ["Conv", "Mul"]


def test_a_value_that_others_read_too_is_not_folded() -> None:
    nodes = [
        helper.make_node("Conv", ["input", "weights"], ["value"]),
        helper.make_node("Mul", ["value", "factor"], ["product"]),
        helper.make_node("Add", ["value", "product"], ["sum"]),
    ]
    constants = {"weights": random_floats(CHANNELS, 2, 3, 3), "factor": random_floats(1, CHANNELS, 1, 1)}
    model = make_model(nodes, constants, "sum")
    assert fold_affine(model) == 0


def test_tiny_weights_become_zero_and_no_others() -> None:
    model = make_chain([], bias=False)
    weights = random_floats(CHANNELS, 2, 3, 3)
    weights[0, 0, 0] = [1e-38, -1e-13, 1e-11]
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(weights, "weights"))
    assert flush_tiny_weights(model) == 2
    flushed = numpy_helper.to_array(model.graph.initializer[0])
    assert flushed[0, 0, 0].tolist() == [0, 0, np.float32(1e-11)]
    weights[0, 0, 0, :2] = 0
    np.testing.assert_array_equal(flushed, weights)


def test_a_freed_input_takes_other_sizes() -> None:
    freed = free_input(make_chain([], bias=True), (1, 2, "H", "W"))
    assert run(freed, random_floats(1, 2, 9, 5))[0].shape == (1, CHANNELS, 7, 3)


def test_a_net_with_scaled_resizes_takes_any_size() -> None:
    def build() -> onnx.ModelProto:
        graph = Graph()
        double = layers.resize(graph, Tensor("input", 4), np.array([12, 16]))
        return graph.finish("test", inputs={"input": (1, 6, 8, 1)}, outputs={"out": double})

    picture = random_floats(1, 6, 8, 1)
    before = run(build(), picture)[0]
    model = build()
    assert scale_resizes(model) == 1
    assert {node.op_type for node in model.graph.node}.isdisjoint({"Shape", "Concat"})
    free = free_input(model, (1, "H", "W", 1))
    np.testing.assert_allclose(run(free, picture)[0], before, atol=1e-6)
    larger = random_floats(1, 10, 4, 1, seed=1)
    doubled = run(free, larger)[0]
    assert doubled.shape == (1, 20, 8, 1)
    np.testing.assert_allclose(doubled[0, 0, 1, 0], 0.75 * larger[0, 0, 0, 0] + 0.25 * larger[0, 0, 1, 0], atol=1e-6)
