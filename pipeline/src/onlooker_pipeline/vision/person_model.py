"""The net that finds people: the bundled NanoDet, or one of the operator's with a card that describes it."""

from dataclasses import dataclass, replace
from typing import Annotated, Literal

import cv2
import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from onlooker_pipeline.vision.networks import Tensor, network
from onlooker_pipeline.vision.non_maximum_suppression import Boxes
from onlooker_pipeline.vision.person_layouts import LAYOUTS, OutputLayout
from onlooker_pipeline.vision.picture import Picture, as_picture, resized

PERSON_MODEL = "person_detect"
CONFIDENCE_AT_LEAST = 0.45
"""From here on a box is a person; on this scale every net's own threshold lies here."""
CELL = 32
"""The bundled net takes any multiple of its coarsest stride."""
SIZES_INPUT = "orig_target_sizes"
"""Second input of RT-DETR and D-FINE: the size in which boxes are wanted."""

Side = Annotated[int, Meta(ge=32, le=4096)]
Share = Annotated[float, Meta(gt=0, lt=1)]
Colour = tuple[float, float, float]


class PersonModelCard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person net takes and gives."""

    layout: Literal["nanodet", "rt-detr", "yolox"]
    input: tuple[Side, Side]
    """Width and height."""
    threshold: Share
    """The net's score from which a box is a person."""
    colours: Literal["bgr", "rgb"] = "bgr"
    mean: Colour = (0.0, 0.0, 0.0)
    spread: Colour = (1.0, 1.0, 1.0)
    """A value of the picture, 0 to 255, goes in as (value - mean) / spread."""
    stretched: bool = False
    """Whether the picture fills the input at the cost of its proportions."""
    padding: Annotated[float, Meta(ge=0, le=255)] = 0.0
    """The value of the input's rest where the picture keeps its proportions."""
    overlap: Share = 0.6
    """Of two boxes that overlap by more, the better one stays."""
    person_class: Annotated[int, Meta(ge=0)] = 0
    classes: Annotated[int, Meta(ge=1)] = 80
    strides: tuple[Annotated[int, Meta(ge=1)], ...] = (8, 16, 32)
    cell_centre: Annotated[float, Meta(ge=0, le=1)] = 0.5

    def __post_init__(self) -> None:
        if self.person_class >= self.classes:
            raise ValueError(f"person_class {self.person_class} is none of {self.classes} classes, counted from 0")
        if 0 in self.spread:
            raise ValueError("spread divides, so none of it may be 0")


BUNDLED = PersonModelCard(
    layout="nanodet",
    input=(416, 320),
    threshold=CONFIDENCE_AT_LEAST,
    mean=(103.53, 116.28, 123.675),
    spread=(57.375, 57.12, 58.395),
)


@dataclass(frozen=True)
class PersonNet:
    """A loaded net and its card."""

    card: PersonModelCard
    smaller: tuple[int, int] | None = None
    """A second input size at which people are found that the first one misses."""
    takes_any_size: bool = False

    def search(self, picture: Picture, size: tuple[int, int], *, at_least: float) -> tuple[Boxes, Tensor]:
        """Boxes in pixels of the picture and their confidences, from `at_least` on; overlapping ones, too."""
        tensor, scales = self._tensor(picture, size)
        height, width = tensor.shape[2:]
        layout = replace(_output_layout(self.card), at_least=_as_score(at_least, self.card.threshold))
        net = network(PERSON_MODEL)
        others = {SIZES_INPUT: np.array([[width, height]], np.int64)} if SIZES_INPUT in net.input_shapes else None
        boxes, scores = LAYOUTS[self.card.layout](net.run(tensor, others), layout, (width, height))
        within = np.array(picture.shape[1::-1] * 2, np.float32)
        return np.clip(boxes / np.tile(scales, 2), 0, within), _as_confidences(scores, self.card.threshold)

    def _tensor(self, picture: Picture, size: tuple[int, int]) -> tuple[Tensor, NDArray[np.float32]]:
        """The net's input, and how many of its pixels a pixel of the picture became, across and down."""
        width, height = size
        rows, columns = picture.shape[:2]
        if self.card.stretched:
            small = as_picture(cv2.resize(picture, size, interpolation=cv2.INTER_AREA))
            scales = width / columns, height / rows
        else:
            scale = min(width / columns, height / rows)
            small = resized(picture, scale)[:height, :width]
            scales = scale, scale
        if self.takes_any_size:
            # A black rest would cost as much as the picture.
            height, width = (-(-side // CELL) * CELL for side in small.shape[:2])
        canvas = np.full((height, width, 3), self.card.padding, np.float32)
        coloured = small[:, :, None] if small.ndim == 2 else small[:, :, :: -1 if self.card.colours == "rgb" else 1]
        canvas[: small.shape[0], : small.shape[1]] = coloured
        canvas -= np.array(self.card.mean, np.float32)
        canvas /= np.array(self.card.spread, np.float32)
        return np.ascontiguousarray(canvas.transpose(2, 0, 1)[None]), np.array(scales, np.float32)


def _output_layout(card: PersonModelCard) -> OutputLayout:
    return OutputLayout(card.person_class, card.classes, card.strides, card.cell_centre)


def _as_confidences(scores: Tensor, threshold: float) -> Tensor:
    """Scores on the scale on which the net's threshold is CONFIDENCE_AT_LEAST, and 0 and 1 stay."""
    return np.interp(scores, (0, threshold, 1), (0, CONFIDENCE_AT_LEAST, 1)).astype(np.float32)


def _as_score(confidence: float, threshold: float) -> float:
    return float(np.interp(confidence, (0, CONFIDENCE_AT_LEAST, 1), (0, threshold, 1)))


BUNDLED_NET = PersonNet(BUNDLED, smaller=(256, 192), takes_any_size=True)
_in_use: dict[str, PersonNet] = {}


def use_person_net(net: PersonNet) -> None:
    """Search with this net from now on; it is loaded as PERSON_MODEL."""
    _in_use[PERSON_MODEL] = net


def person_net() -> PersonNet:
    """The net to search with: the bundled one unless another was chosen."""
    return _in_use.get(PERSON_MODEL, BUNDLED_NET)
