"""The readers of weights, graph models and the face's geometry, on small files made here."""

import json
import struct
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from building.canonical_face import NUMBERS_A_POINT, POINTS, read_canonical_face
from building.layers import UnknownLayerError
from building.tfjs_net import convert_tfjs
from building.weights import read_weights
from running import random_floats, run


def entry(name: str, shape: list[int], dtype: str = "float32", quantization: dict[str, Any] | None = None) -> Any:
    one = {"name": name, "shape": shape, "dtype": dtype}
    return {**one, "quantization": quantization} if quantization else one


def test_weights_come_back_as_they_were_stored() -> None:
    plain, half = random_floats(2, 3), random_floats(4, seed=1).astype(np.float16)
    steps, whole = np.array([0, 128, 255], np.uint8), np.array(-7, np.int32)
    stored = [
        entry("plain", [2, 3]),
        entry("half", [4], quantization={"dtype": "float16"}),
        entry("steps", [3], quantization={"dtype": "uint8", "scale": 0.5, "min": -1.0}),
        entry("whole", [], "int32"),
    ]
    content = b"".join(array.tobytes() for array in (plain, half, steps, whole))
    arrays = read_weights([{"weights": stored[:2]}, {"weights": stored[2:]}], content)
    np.testing.assert_array_equal(arrays["plain"], plain)
    np.testing.assert_array_equal(arrays["half"], half.astype(np.float32))
    assert arrays["steps"].tolist() == [-1, 63, 126.5]
    assert arrays["whole"] == -7


def test_weights_that_do_not_fill_the_file_are_refused() -> None:
    with pytest.raises(ValueError, match="4 bytes, the file has 8"):
        read_weights([{"weights": [entry("one", [1])]}], bytes(8))


def text(value: str) -> dict[str, str]:
    return {"s": b64encode(value.encode()).decode()}


def integers(*values: int) -> dict[str, Any]:
    return {"list": {"i": [str(value) for value in values]}}


def write_net(
    folder: Path, nodes: list[dict[str, Any]], constants: dict[str, np.ndarray[Any, Any]]
) -> tuple[Path, Path]:
    """A graph model of those nodes, whose constants are nodes too, listed last as the order is free."""
    listed = [{"name": "input", "op": "Placeholder", "attr": {}}, *nodes]
    listed += [{"name": name, "op": "Const", "attr": {}} for name in constants]
    weights = [entry(name, list(array.shape), str(array.dtype)) for name, array in constants.items()]
    document = {"modelTopology": {"node": listed}, "weightsManifest": [{"weights": weights}]}
    files = folder / "net.json", folder / "net.bin"
    files[0].write_text(json.dumps(document), encoding="utf-8")
    files[1].write_bytes(b"".join(array.tobytes() for array in constants.values()))
    return files


CONVOLUTION = {"padding": text("VALID"), "strides": integers(1, 1, 1, 1), "dilations": integers(1, 1, 1, 1)}


def test_a_graph_model_computes_what_its_nodes_say(tmp_path: Path) -> None:
    each, across, bias = random_floats(1, 1, 2, 2), random_floats(1, 1, 4, 3, seed=1), random_floats(3, seed=2)
    fused = {"fused_ops": {"list": {"s": [text("BiasAdd")["s"], text("Relu")["s"]]}}}
    nodes = [
        {"name": "mean", "op": "Mean", "input": ["across", "axes"], "attr": {"keep_dims": {"b": False}}},
        {"name": "across", "op": "_FusedConv2D", "input": ["each", "b", "c"], "attr": {**CONVOLUTION, **fused}},
        {"name": "each", "op": "DepthwiseConv2dNative", "input": ["input", "a"], "attr": CONVOLUTION},
    ]
    constants = {"a": each, "b": across, "c": bias, "axes": np.array([1, 2], np.int32)}
    model = convert_tfjs(*write_net(tmp_path, nodes, constants), input_shape=("N", 5, 5, 2), outputs={"out": "mean"})
    picture = random_floats(3, 5, 5, 2, seed=3)
    inner = (picture[..., None] * each[0, 0]).reshape(3, 5, 5, 4)
    expected = np.maximum(inner @ across[0, 0] + bias, 0).mean(axis=(1, 2))
    np.testing.assert_allclose(run(model, picture)[0], expected, atol=1e-5)


def test_a_resize_has_the_size_that_the_source_fixes(tmp_path: Path) -> None:
    how = {"half_pixel_centers": {"b": True}, "align_corners": {"b": False}}
    files = write_net(
        tmp_path,
        [{"name": "resize", "op": "ResizeBilinear", "input": ["input", "size"], "attr": how}],
        {"size": np.array([3, 4], np.int32)},
    )
    model = convert_tfjs(*files, input_shape=(1, 6, 8, 1), outputs={"out": "resize"})
    assert run(model, random_floats(1, 6, 8, 1))[0].shape == (1, 3, 4, 1)


def test_a_reshape_to_a_sparse_constant_is_folded(tmp_path: Path) -> None:
    nodes = [
        {"name": "flat", "op": "Reshape", "input": ["input", "shape"], "attr": {}},
        {"name": "shape", "op": "AddV2", "input": ["base", "dense"], "attr": {}},
        {"name": "dense", "op": "SparseToDense", "input": ["at", "length", "value", "rest"], "attr": {}},
    ]
    constants = {name: np.array(value, np.int32) for name, value in {"base": [1, 0], "length": [2], "rest": 0}.items()}
    constants |= {"at": np.array([[1]], np.int32), "value": np.array([12], np.int32)}
    files = write_net(tmp_path, nodes, constants)
    model = convert_tfjs(*files, input_shape=(1, 2, 2, 3), outputs={"out": "flat"})
    picture = random_floats(1, 2, 2, 3)
    np.testing.assert_array_equal(run(model, picture)[0], picture.reshape(1, 12))


def test_an_unknown_layer_is_named(tmp_path: Path) -> None:
    files = write_net(tmp_path, [{"name": "odd", "op": "FFT2D", "input": ["input"], "attr": {}}], {})
    with pytest.raises(UnknownLayerError, match=r"FFT2D \(odd\)"):
        convert_tfjs(*files, input_shape=(1, 2, 2, 1), outputs={"out": "odd"})


def test_the_canonical_face_is_read_from_its_protobuf() -> None:
    points = random_floats(POINTS, NUMBERS_A_POINT)
    numbers = b"".join(b"\x1d" + struct.pack("<f", number) for number in points.reshape(-1))
    mesh = b"\x08\x01" + numbers
    length = len(mesh)
    content = b"\x08\x02\x12" + bytes([length & 127 | 128, length >> 7 & 127 | 128, length >> 14]) + mesh
    np.testing.assert_array_equal(read_canonical_face(content), points[:, :3])
