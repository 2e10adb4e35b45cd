"""Every check of `onlooker prove`, in the order in which they run."""

from importlib import import_module

from onlooker.proof.check import Check

CHECK_MODULES = (
    "onlooker.proof.model_outputs",
    "onlooker.proof.pictures_on_disk",
    "onlooker.proof.hostile_questions",
    "onlooker.proof.connections",
)
"""Each has a `CHECK`; imported when they are asked for."""


def load_checks() -> list[Check]:
    return [import_module(name).CHECK for name in CHECK_MODULES]
