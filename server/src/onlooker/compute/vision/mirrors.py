"""Asking a net about every crop and its mirror image: the mean of both errs less than either."""

import numpy as np

from onlooker.compute.vision.networks import Tensor


def with_mirror_images(crops: Tensor) -> Tensor:
    """[n, height, width, channels] to [2n, ...]: the crops, then each in a mirror."""
    return np.concatenate([crops, crops[:, :, ::-1]])


def fold_mirrored(said: Tensor) -> Tensor:
    """What the net said of n crops and then of their mirror images, as n means."""
    return np.asarray(said.reshape(2, -1, *said.shape[1:]).mean(axis=0), np.float32)
