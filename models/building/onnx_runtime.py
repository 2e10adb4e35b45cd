"""ONNX Runtime without its uploader of usage data: the only place here that imports it."""

import os

os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime  # noqa: TID251  the library reads the switch while it loads

__all__ = ["onnxruntime"]
