"""A person net of the operator's: its file, the card beside it, and its trial on a reference picture."""

import tomllib
from pathlib import Path

import msgspec
import numpy as np

from onlooker_pipeline.model_runtime import ModelsUnavailable
from onlooker_pipeline.tracking.boxes import Box, overlap
from onlooker_pipeline.vision.networks import MODEL_ERRORS, Network, load_network_file
from onlooker_pipeline.vision.person_layouts import WrongLayoutError
from onlooker_pipeline.vision.person_model import (
    CONFIDENCE_AT_LEAST,
    PERSON_MODEL,
    PersonModelCard,
    PersonNet,
    use_person_net,
)
from onlooker_pipeline.vision.picture import decode_picture

SETTING = "ONLOOKER_PERSON_MODEL"
REFERENCE = Path(__file__).with_name("reference_person.jpg")
"""One person from the waist up, right of the middle of a frame of 640 x 480 pixels."""
REFERENCE_BOX = Box(310, 149, 520, 440)
OVERLAP_AT_LEAST = 0.5


def load_person_model(file: Path, *, provider: str = "cpu", threads: int = 1) -> PersonNet:
    """Load, try and use the net; raises ModelsUnavailable with the remedy if it is not what its card says."""
    if not file.is_file():
        raise ModelsUnavailable(f"{SETTING} names {file}, which is no file. Correct the path.")
    card = read_card(file)
    network = load_network_file(PERSON_MODEL, file, provider=provider, threads=threads)
    _check_input(network, card, file)
    net = PersonNet(card)
    _try_on_reference(net, file)
    use_person_net(net)
    return net


def card_file(file: Path) -> Path:
    """The card beside a net: the same name, with .toml."""
    return file.with_suffix(".toml")


def read_card(file: Path) -> PersonModelCard:
    """The card of a net; raises ModelsUnavailable if it is missing or says something unknown."""
    path = card_file(file)
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), PersonModelCard)
    except FileNotFoundError:
        complaint = "is missing. Write one"
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        complaint = f"is wrong: {error}. Correct it"
    raise ModelsUnavailable(f"The card of {SETTING}, {path}, {complaint} as docs/guides/person-model.md says.")


def _check_input(network: Network, card: PersonModelCard, file: Path) -> None:
    width, height = card.input
    shape = next(iter(network.input_shapes.values()))
    wanted = (1, 3, height, width)
    fits = len(shape) == len(wanted) and all(
        side == ours for side, ours in zip(shape, wanted, strict=True) if isinstance(side, int)
    )
    if not fits:
        raise ModelsUnavailable(
            f"{file} takes an input of {shape}, its card says {list(wanted)}. Set `input` in {card_file(file)} to the "
            "net's width and height, or export the net for one picture with three planes of that size."
        )


def _try_on_reference(net: PersonNet, file: Path) -> None:
    """The net must find the person of the reference picture, and where she is."""
    card, path = net.card, card_file(file)
    picture = decode_picture(REFERENCE.read_bytes())
    try:
        boxes, confidences = net.search(picture, card.input, at_least=0.0)
    except WrongLayoutError as error:
        raise ModelsUnavailable(
            f"{file} does not have the outputs of the layout {card.layout!r}, which has {error}. "
            f"Correct `layout`, `classes` or `strides` in {path}."
        ) from None
    except MODEL_ERRORS as error:
        raise ModelsUnavailable(f"{file} can't compute an input of {card.input}: {error}. Correct {path}.") from None
    sure = confidences >= CONFIDENCE_AT_LEAST
    if not sure.any():
        raise ModelsUnavailable(
            f"{file} finds nobody in the reference picture. Correct `threshold`, `person_class`, `colours`, `mean` or "
            f"`spread` in {path}."
        )
    best = Box(*boxes[np.argmax(np.where(sure, confidences, 0))].tolist())
    if overlap(best, REFERENCE_BOX) < OVERLAP_AT_LEAST:
        raise ModelsUnavailable(
            f"{file} finds a person in the reference picture, but at {_rounded(best)} instead of "
            f"{_rounded(REFERENCE_BOX)}. Correct `layout`, `stretched`, `cell_centre` or `strides` in {path}."
        )


def _rounded(box: Box) -> list[int]:
    return [round(side) for side in box]
