"""Takes the switch out on purpose: ONNX Runtime is imported before anybody could silence it."""

import os

os.environ.pop("ORT_DISABLE_TELEMETRY", None)

import onnxruntime  # noqa: F401, TID251  as a program would that does not know
