"""Whether the camera sees: faults of single pictures settle over seconds of the frames' own time."""

from dataclasses import dataclass

import msgspec

from onlooker_pipeline.motion.change import Grey
from onlooker_pipeline.scene.picture_fault import (
    LearntView,
    PictureStatistics,
    find_fault,
    shows_other_view,
)
from onlooker_pipeline.service_call import PictureFault

SETTLES_AFTER_MS = {
    PictureFault.BLACK: 5_000,
    PictureFault.COVERED: 8_000,
    PictureFault.DARK: 10_000,
    PictureFault.OVEREXPOSED: 8_000,
    PictureFault.BLURRED: 10_000,
    PictureFault.FROZEN: 0,
    PictureFault.MOVED: 10_000,
}
"""How long pictures must have a fault before the camera has it; somebody who stands close is gone by then."""
FROZEN_AFTER_MS, FROZEN_PICTURES = 20_000, 5
"""How long, and in how many pictures at least, nothing at all changes: even the noise of the sensor is gone."""
VIEW_STANDS_AFTER_MS = 2_000
"""From then on another view is no longer one that a camera sweeps over."""
SEES_AFTER_MS = 3_000
FORGOTTEN_FASTER = 2
"""Pictures without a fault take back as much evidence as this many with it gave."""
LONGEST_STEP_MS = 5_000
"""One picture is evidence for no longer than this, however rarely they come."""


class ConditionState(msgspec.Struct, array_like=True, gc=False):
    """What the judgement remembers from frame to frame: a few numbers, no pixels."""

    at_ms: int = 0
    """When the last frame was taken; 0 before the first."""
    trace: int = 0
    """Checksum of the last picture."""
    same_since_ms: int = 0
    """Since when all pictures were the same, and how many those are."""
    same_pictures: int = 0
    evidence_ms: dict[PictureFault, int] = {}
    sees_ms: int = 0
    """For how long pictures have been without a fault, while a fault is settled."""
    settled: PictureFault | None = None


@dataclass
class SceneMemory:
    """What a worker keeps in memory of a scene: small planes, never written."""

    previous: Grey
    """The newest picture, small; for the next frame the one before."""
    view: LearntView | None = None
    other: LearntView | None = None
    """Another view than the learnt one, as long as pictures show that one."""

    @property
    def size_bytes(self) -> int:
        planes = [plane for view in (self.view, self.other) if view for plane in (view.edges, view.coarse)]
        return self.previous.nbytes + sum(plane.nbytes for plane in planes)


def judge_picture(
    state: ConditionState,
    memory: SceneMemory,
    picture: PictureStatistics,
    *,
    trace: int,
    at_ms: int,
    shows_face: bool,
) -> PictureFault | None:
    """Take in the newest picture; returns why the camera sees nothing, None if it sees."""
    fault = find_fault(picture, memory.view, shows_face=shows_face)
    is_still = _is_still(state, trace, at_ms)
    if fault is None and is_still:
        fault = PictureFault.FROZEN
    elif fault is None:
        fault = _compare_views(memory, picture, at_ms)
    else:
        memory.other = None
    before = state.settled
    settled = settle_fault(state, fault, at_ms)
    if settled is PictureFault.MOVED and before is not settled:
        memory.view, memory.other = memory.other, None
    return settled


def _is_still(state: ConditionState, trace: int, at_ms: int) -> bool:
    if trace != state.trace or not state.same_pictures:
        state.trace, state.same_since_ms, state.same_pictures = trace, at_ms, 0
    state.same_pictures += 1
    return at_ms - state.same_since_ms >= FROZEN_AFTER_MS and state.same_pictures >= FROZEN_PICTURES


def _compare_views(memory: SceneMemory, picture: PictureStatistics, at_ms: int) -> PictureFault | None:
    """Learn the view; MOVED while pictures show another one, and all the same one."""
    if memory.view is None:
        memory.view = LearntView.of(picture, at_ms)
    elif not (memory.view.is_learnt and shows_other_view(picture, memory.view)):
        memory.other = None
        memory.view.learn(picture, at_ms)
    elif memory.other is None or shows_other_view(picture, memory.other):
        memory.other = LearntView.of(picture, at_ms)
    else:
        memory.other.learn(picture, at_ms)
        return PictureFault.MOVED if at_ms - memory.other.began_ms >= VIEW_STANDS_AFTER_MS else None
    return None


def settle_fault(state: ConditionState, fault: PictureFault | None, at_ms: int) -> PictureFault | None:
    """Add one picture's fault to the evidence; returns the fault that the camera has."""
    step_ms = min(at_ms - state.at_ms, LONGEST_STEP_MS) if state.at_ms else 0
    state.at_ms = at_ms
    if fault is None:
        _take_back(state, step_ms)
    else:
        state.sees_ms = 0
        gathered_ms = min(state.evidence_ms.get(fault, 0) + step_ms, SETTLES_AFTER_MS[fault])
        state.evidence_ms[fault] = gathered_ms
        if gathered_ms >= SETTLES_AFTER_MS[fault] and state.settled is not fault:
            state.settled, state.evidence_ms = fault, {fault: gathered_ms}
    return state.settled


def _take_back(state: ConditionState, step_ms: int) -> None:
    left = {fault: known_ms - FORGOTTEN_FASTER * step_ms for fault, known_ms in state.evidence_ms.items()}
    state.evidence_ms = {fault: known_ms for fault, known_ms in left.items() if known_ms > 0}
    if state.settled is not None:
        state.sees_ms += step_ms
        if state.sees_ms >= SEES_AFTER_MS:
            state.settled, state.sees_ms, state.evidence_ms = None, 0, {}
