"""Switches that keep dependencies from reporting their use to their makers."""

SWITCHES = {"ORT_DISABLE_TELEMETRY": "1"}
"""The official Linux wheels of ONNX Runtime upload usage data unless this is set before they are imported."""
