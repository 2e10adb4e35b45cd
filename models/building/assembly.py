"""The files of the wheel, each with the way it is made from its sources."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
import onnx

from building.age_net import build_age_net
from building.canonical_face import read_canonical_face
from building.cleanups import flush_tiny_weights, fold_affine, free_input, scale_resizes
from building.expression_net import build_expression_net
from building.tfjs_net import convert_tfjs
from building.tflite_net import convert_tflite

Sources = dict[str, Path]

PERSON_SOURCE_SIDE = 416
PERSON_OUTPUTS = {
    "scores_8": "Identity",
    "scores_16": "Identity_1",
    "scores_32": "Identity_2",
    "distances_8": "Identity_3",
    "distances_16": "Identity_4",
    "distances_32": "Identity_5",
}


def build_files(sources: Sources, folder: Path) -> None:
    """Writes every file of the wheel's data into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, build in MODELS.items():
        model = build(sources)
        flush_tiny_weights(model)
        onnx.checker.check_model(model, full_check=True)
        (folder / name).write_bytes(model.SerializeToString(deterministic=True))
    stream = BytesIO()
    np.save(stream, read_canonical_face(sources["face_geometry.binarypb"].read_bytes()))
    (folder / CANONICAL_FACE).write_bytes(stream.getvalue())


def _face_detect(sources: Sources) -> onnx.ModelProto:
    return free_input(onnx.load(sources["yunet.onnx"]), (1, 3, "H", "W"))


def _age(sources: Sources) -> onnx.ModelProto:
    return build_age_net(sources["age_gender_model-weights_manifest.json"], sources["age_gender_model.bin"])


def _gender(sources: Sources) -> onnx.ModelProto:
    model = onnx.load(sources["gender.onnx"])
    fold_affine(model)
    return model


def _face_landmark(sources: Sources) -> onnx.ModelProto:
    return convert_tflite(sources["face_landmark.tflite"], outputs=("landmarks", "faceflag"))


def _iris_landmark(sources: Sources) -> onnx.ModelProto:
    return convert_tflite(sources["iris_landmark.tflite"], outputs=("eye", "iris"))


def _emotion_fa(sources: Sources) -> onnx.ModelProto:
    manifest, weights = "face_expression_model-weights_manifest.json", "face_expression_model.bin"
    return build_expression_net(sources[manifest], sources[weights])


def _emotion_mx(sources: Sources) -> onnx.ModelProto:
    shape, outputs = ("N", 64, 64, 1), {"probabilities": "Identity"}
    return convert_tfjs(sources["emotion.json"], sources["emotion.bin"], input_shape=shape, outputs=outputs)


def _person_detect(sources: Sources) -> onnx.ModelProto:
    model = convert_tfjs(
        sources["nanodet.json"],
        sources["nanodet.bin"],
        input_shape=(1, 3, PERSON_SOURCE_SIDE, PERSON_SOURCE_SIDE),
        outputs=PERSON_OUTPUTS,
    )
    fold_affine(model)
    scale_resizes(model)
    return free_input(model, (1, 3, "H", "W"))


CANONICAL_FACE = "canonical_face.npy"
MODELS: dict[str, Callable[[Sources], onnx.ModelProto]] = {
    "age.onnx": _age,
    "emotion_fa.onnx": _emotion_fa,
    "emotion_mx.onnx": _emotion_mx,
    "face_detect.onnx": _face_detect,
    "face_landmark.onnx": _face_landmark,
    "gender.onnx": _gender,
    "iris_landmark.onnx": _iris_landmark,
    "person_detect.onnx": _person_detect,
}
