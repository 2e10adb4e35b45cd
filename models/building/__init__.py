"""Builds the ONNX files of onlooker-models out of pinned registry packages."""
