"""What is wrong with one picture: judged from the small grey copy that is computed anyway, and the learnt view."""

import math
import zlib
from dataclasses import dataclass

import cv2
import numpy as np

from onlooker_pipeline.motion.change import Grey, Plane
from onlooker_pipeline.service_call import PictureFault
from onlooker_pipeline.vision.picture import Picture

BLACK_BELOW, BLACK_SPREAD = 20.0, 4.0
"""Grey levels. Nothing is brighter, and nothing stands out: less light than any scene reflects."""
DIM_BELOW = 40.0
"""Grey level of a picture on average, below which `onlooker-agent doctor`, too, warns of too little light."""
DARK_BELOW = 16.0
"""Grey levels that 98 % of the picture do not reach: below, most faces are not found."""
GLARE_FROM, GLARE_SHARE = 245, 0.65
FLAT_SPREAD = 12.0
"""Grey levels between dark and bright, below which a picture shows no forms at all."""
COVERED_SPREAD, COVERED_EDGE = 90.0, 0.085
"""A hand or a cloth before the lens: some light and shade, and no edge that is stronger than this share of it."""
BLURRED_EDGE = 0.055
"""Strongest edges as a share of the spread; below it a picture is out of focus, whatever it shows."""
EDGES_IN_PLACE = 0.45
"""Share of the learnt edges' strength from which a picture is as sharp as the camera can; people hide some edges."""
EDGE_LOST = 0.6
"""Strongest edges, as a share of what they usually are, below which the whole picture became softer."""
ALIKE = 0.5
"""Correlation of the coarse picture with the learnt view: both show the same, however blurred."""
OTHER_VIEW_BELOW, SAME_VIEW = 0.15, 0.85
"""Share of the learnt edges that are in their place, and correlation: people who fill the picture change the first."""
LEARNT_AFTER_MS = 10_000
LEARN_OVER_MS = 60_000
COARSE = (40, 30)
TRACE_STEP_PX = 8


@dataclass(frozen=True)
class PictureStatistics:
    """A picture in numbers and two small planes."""

    darkest: float
    brightest: float
    """Grey levels that 2 % of the picture stay below, and that 2 % are above."""
    mean: float
    glare: float
    """Share of the picture that is white."""
    edge: float
    """Strength of the strongest hundredth of the edges."""
    edges: Plane
    coarse: Plane
    """Both without their mean."""

    @property
    def is_dim(self) -> bool:
        """Whether there is so little light that people are seen badly, if at all."""
        return self.mean < DIM_BELOW

    @property
    def spread(self) -> float:
        return self.brightest - self.darkest

    @property
    def edge_share(self) -> float:
        """How hard the strongest edges are: near 1, if they go from dark to bright at once."""
        return self.edge / max(self.spread, 1.0)


def measure_picture(small: Grey) -> PictureStatistics:
    """Of the small copy that movement is found with."""
    levels = np.cumsum(cv2.calcHist([small], [0], None, [256], [0, 256]).ravel()) / small.size
    darkest, brightest = (float(np.searchsorted(levels, share)) for share in (0.02, 0.98))
    edges = np.asarray(cv2.Laplacian(small, cv2.CV_32F), np.float32)
    strengths = np.cumsum(cv2.calcHist([cv2.convertScaleAbs(edges)], [0], None, [256], [0, 256]).ravel()) / small.size
    coarse = np.asarray(cv2.resize(small, COARSE, interpolation=cv2.INTER_AREA), np.float32)
    mean = cv2.mean(coarse)[0]
    return PictureStatistics(
        darkest,
        brightest,
        mean,
        glare=1.0 - float(levels[GLARE_FROM - 1]),
        edge=float(np.searchsorted(strengths, 0.99)),
        edges=edges,
        coarse=coarse - mean,
    )


def trace_picture(picture: Picture) -> int:
    """A checksum of one pixel in 64: the noise of a sensor changes it with every picture."""
    half = TRACE_STEP_PX // 2
    return zlib.crc32(picture[half::TRACE_STEP_PX, half::TRACE_STEP_PX].tobytes())


@dataclass
class LearntView:
    """What a camera usually shows, as edges and as a coarse picture; in memory only, like the previous picture."""

    edges: Plane
    coarse: Plane
    edge_share: float
    began_ms: int
    at_ms: int
    pictures: int = 1

    @staticmethod
    def of(picture: PictureStatistics, at_ms: int) -> "LearntView":
        return LearntView(picture.edges.copy(), picture.coarse.copy(), picture.edge_share, at_ms, at_ms)

    @property
    def is_learnt(self) -> bool:
        return self.at_ms - self.began_ms >= LEARNT_AFTER_MS

    def learn(self, picture: PictureStatistics, at_ms: int) -> None:
        """The mean at first, then what the last minute showed."""
        self.pictures += 1
        share = max(1.0 / self.pictures, 1.0 - math.exp(-(at_ms - self.at_ms) / LEARN_OVER_MS))
        cv2.accumulateWeighted(picture.edges, self.edges, share)
        cv2.accumulateWeighted(picture.coarse, self.coarse, share)
        self.edge_share += share * (picture.edge_share - self.edge_share)
        self.at_ms = at_ms

    def edges_left(self, picture: PictureStatistics) -> float:
        """Strength of the learnt edges in a picture, relative to its coarse contrast; noise adds nothing to it."""
        own = float(np.vdot(self.edges, self.edges))
        contrast = float(cv2.norm(picture.coarse)) / max(float(cv2.norm(self.coarse)), 1.0)
        return float(np.vdot(picture.edges, self.edges)) / max(own * contrast, 1.0)

    def likeness(self, picture: PictureStatistics) -> float:
        """Correlation of the coarse pictures, from -1 to 1."""
        both = float(cv2.norm(picture.coarse)) * float(cv2.norm(self.coarse))
        return float(np.vdot(picture.coarse, self.coarse)) / max(both, 1.0)


def find_fault(picture: PictureStatistics, view: LearntView | None, *, shows_face: bool) -> PictureFault | None:
    """What makes this picture blind; a lens through which a face is found is neither covered nor in the dark."""
    fault = _find_fault_of_light(picture)
    if fault is PictureFault.BLACK or (fault and not shows_face):
        return fault
    known = view if view and view.is_learnt else None
    if known and known.edges_left(picture) >= EDGES_IN_PLACE:
        return None
    lacks_edges = _lacks_edges(picture) and not shows_face
    if not lacks_edges and not (known and picture.edge_share < EDGE_LOST * known.edge_share):
        return None
    is_blurred = picture.spread >= COVERED_SPREAD or (known is not None and known.likeness(picture) >= ALIKE)
    return PictureFault.BLURRED if is_blurred or shows_face else PictureFault.COVERED


def _find_fault_of_light(picture: PictureStatistics) -> PictureFault | None:
    if picture.brightest < BLACK_BELOW and picture.spread < BLACK_SPREAD:
        return PictureFault.BLACK
    if picture.brightest < DARK_BELOW:
        return PictureFault.DARK
    if picture.glare > GLARE_SHARE:
        return PictureFault.OVEREXPOSED
    return PictureFault.COVERED if picture.spread < FLAT_SPREAD else None


def _lacks_edges(picture: PictureStatistics) -> bool:
    """Whatever the picture shows."""
    limit = COVERED_EDGE if picture.spread < COVERED_SPREAD else BLURRED_EDGE
    return picture.edge_share < limit


def shows_other_view(picture: PictureStatistics, view: LearntView) -> bool:
    """Whether hardly any of a view's edges is in its place, and light and shade have moved as well."""
    return view.edges_left(picture) < OTHER_VIEW_BELOW and view.likeness(picture) < SAME_VIEW
