"""Every check of `onlooker prove`, in the order in which they run."""

from importlib import import_module

from onlooker.proof.check import Check

CHECK_MODULES = (
    "onlooker.proof.model_outputs",
    "onlooker.proof.pictures_on_disk",
    "onlooker.proof.hostile_questions",
    "onlooker.proof.retention_sweep",
    "onlooker.proof.log_lines",
    "onlooker.proof.connections",
)
"""Each has a `CHECK`; imported when they are asked for. After the sweep the proof's streams store no visit; the last
one watches all others.
"""


def load_checks() -> list[Check]:
    return [import_module(name).CHECK for name in CHECK_MODULES]
