"""Makes models/references again: every net on its probe, by the runtime that its source was made for."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from numpy.typing import NDArray

from building.assembly import PERSON_OUTPUTS
from building.fetching import fetch_sources
from building.parity import describe_input, describe_output, open_model, run_model
from building.pins import read_pins
from building.probes import PROBES, Probe

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent
Floats = NDArray[np.float32]
Outputs = dict[str, Floats]
Sources = dict[str, Path]


@dataclass(frozen=True)
class Answer:
    """What a runtime said, and which one it was."""

    runtime: str
    outputs: Outputs


def main() -> None:
    sources = fetch_sources(read_pins(), PROJECT / "build")
    for name, probe in PROBES.items():
        print(f"running the source of {name}", flush=True)
        answer = ANSWERS[name](sources, probe)
        outputs = {output: describe_output(array) for output, array in answer.outputs.items()}
        reference = {"runtime": answer.runtime, "input": describe_input(probe), "outputs": outputs}
        file = PROJECT / "references" / f"{Path(name).stem}.json"
        file.write_text(json.dumps(reference, indent=1) + "\n", encoding="utf-8")


def answer_by_onnx_runtime(source: Path, probe: Probe) -> Answer:
    return Answer(
        f"ONNX Runtime {version('onnxruntime')}, untouched source", run_model(open_model(source), probe.make())
    )


def answer_by_litert(source: Path, probe: Probe, outputs: tuple[str, ...]) -> Answer:
    interpreter = Interpreter(model_path=str(source), num_threads=1)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], probe.make())
    interpreter.invoke()
    arrays = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    return Answer(f"LiteRT {version('ai-edge-litert')}", dict(zip(outputs, arrays, strict=True)))


def answer_by_node(script: str, arguments: tuple[Path | str, ...], probe: Probe) -> Outputs:
    """The script's outputs by the names it gives them."""
    node = shutil.which("node")
    if node is None:
        sys.exit("node is missing; install Node.js, e.g. `apt install nodejs npm`")
    with TemporaryDirectory() as folder:
        given, said = Path(folder) / "input.json", Path(folder) / "outputs.json"
        picture = probe.make()
        given.write_text(json.dumps({"shape": picture.shape, "values": picture.reshape(-1).tolist()}), encoding="utf-8")
        subprocess.run([node, str(HERE / script), *map(str, arguments), str(given), str(said)], check=True, cwd=HERE)
        arrays = json.loads(said.read_text(encoding="utf-8"))
    return {name: np.array(one["values"], np.float32).reshape(one["shape"]) for name, one in arrays.items()}


def answer_by_tfjs(files: tuple[Path, Path], probe: Probe, outputs: dict[str, str]) -> Answer:
    said = answer_by_node("run_graph_model.cjs", files, probe)
    return Answer(f"TensorFlow.js {_npm_version('@tensorflow/tfjs')}", {ours: said[it] for ours, it in outputs.items()})


def answer_by_face_api(sources: Sources, probe: Probe, net: str, model: str) -> Answer:
    files = sources[f"{model}.bin"], sources[f"{model}-weights_manifest.json"]
    said = answer_by_node("run_face_api.cjs", (net, *files), probe)
    return Answer(f"face-api {_npm_version('@vladmandic/face-api')}", said)


def answer_for_persons(sources: Sources, probe: Probe) -> Answer:
    """The source takes squares only: the sizes written into it are set to our height before TensorFlow.js runs it."""
    document = json.loads(sources["nanodet.json"].read_text(encoding="utf-8"))
    content = bytearray(sources["nanodet.bin"].read_bytes())
    with TemporaryDirectory() as folder:
        files = Path(folder) / "nanodet.json", Path(folder) / "nanodet.bin"
        _set_height(document, content, probe.shape[2])
        files[0].write_text(json.dumps(document), encoding="utf-8")
        files[1].write_bytes(content)
        return answer_by_tfjs(files, probe, PERSON_OUTPUTS)


def _set_height(document: dict[str, Any], content: bytearray, height: int) -> None:
    nodes = {node["name"]: node for node in document["modelTopology"]["node"]}
    resizes = {node["input"][1] for node in nodes.values() if node["op"] == "ResizeBilinear"}
    side = next(node for node in nodes.values() if node["op"] == "Placeholder")["attr"]["shape"]["shape"]["dim"][2]
    offset = 0
    for entry in (one for group in document["weightsManifest"] for one in group["weights"]):
        count = int(np.prod(entry["shape"]))
        if entry["name"] in resizes:
            size = np.frombuffer(content, "<i4", count, offset)
            grown = np.array([size[0] * height // int(side["size"]), size[1]], "<i4")
            content[offset : offset + grown.nbytes] = grown.tobytes()
        offset += count * (2 if "quantization" in entry else 4)  # float16, or four bytes
    side["size"] = str(height)


def _npm_version(package: str) -> str:
    return str(json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"][package])


ANSWERS: dict[str, Callable[[Sources, Probe], Answer]] = {
    "age.onnx": lambda sources, probe: answer_by_face_api(sources, probe, "AgeGenderNet", "age_gender_model"),
    "emotion_fa.onnx": lambda sources, probe: answer_by_face_api(
        sources, probe, "FaceExpressionNet", "face_expression_model"
    ),
    "emotion_mx.onnx": lambda sources, probe: answer_by_tfjs(
        (sources["emotion.json"], sources["emotion.bin"]), probe, {"probabilities": "Identity"}
    ),
    "face_detect.onnx": lambda sources, probe: answer_by_onnx_runtime(sources["yunet.onnx"], probe),
    "face_landmark.onnx": lambda sources, probe: answer_by_litert(
        sources["face_landmark.tflite"], probe, ("landmarks", "faceflag")
    ),
    "gender.onnx": lambda sources, probe: answer_by_onnx_runtime(sources["gender.onnx"], probe),
    "iris_landmark.onnx": lambda sources, probe: answer_by_litert(
        sources["iris_landmark.tflite"], probe, ("eye", "iris")
    ),
    "person_detect.onnx": answer_for_persons,
}

if __name__ == "__main__":
    main()
