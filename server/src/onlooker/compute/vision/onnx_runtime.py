"""ONNX Runtime without its uploader of usage data: the only place that imports it."""

import os

from onlooker.compute.telemetry import SWITCHES

os.environ.update(SWITCHES)

import onnxruntime as ort  # noqa: TID251  the library reads the switches while it loads

__all__ = ["ort"]
