"""The unit of what computing costs: one inference of the face detector, with nothing around it."""

from collections.abc import Callable

import cv2
import numpy as np

from onlooker_pipeline.model_runtime import model_file
from onlooker_pipeline.vision.networks import ort


def bare_inference(frame: bytes) -> Callable[[], object]:
    """YuNet alone on a frame that lies ready: one thread, nothing before it and nothing after."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model_file("face_detect.onnx"), options, providers=["CPUExecutionProvider"])
    grey = cv2.imdecode(np.frombuffer(frame, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert grey is not None
    tensor = np.ascontiguousarray(np.broadcast_to(grey.astype(np.float32), (1, 3, *grey.shape)))
    return lambda: session.run(None, {"input": tensor})
