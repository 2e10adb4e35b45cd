"""A person net of the operator's is used if it finds the person of the reference picture, and refused otherwise."""

import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest

from onlooker_pipeline.model_runtime import ModelsUnavailable
from onlooker_pipeline.vision import networks, person_model
from onlooker_pipeline.vision.person_model import CONFIDENCE_AT_LEAST, PersonModelCard, person_net
from onlooker_pipeline.vision.person_model_file import REFERENCE_BOX, load_person_model, read_card
from onlooker_pipeline.vision.persons import find_persons
from tiny_onnx import write_net

WIDTH, HEIGHT = 416, 416
SCALE = WIDTH / 640
FRAME = np.full((480, 640), 120, np.uint8)
SCORE = 0.8

Box = tuple[float, float, float, float]


@pytest.fixture(autouse=True)
def bundled_net_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "_loaded", {})
    monkeypatch.setattr(person_model, "_in_use", {})


def scaled(box: Box, across: float = SCALE, down: float = SCALE) -> Box:
    left, top, right, bottom = box
    return left * across, top * down, right * across, bottom * down


def yolox(file: Path, box: Box = REFERENCE_BOX, score: float = SCORE) -> Path:
    """Its box is in the grid of stride 32, in the cell of its middle."""
    left, top, right, bottom = scaled(box)
    x, y, columns = (left + right) / 64, (top + bottom) / 64, WIDTH // 32
    before = (WIDTH // 8) * (HEIGHT // 8) + (WIDTH // 16) * (HEIGHT // 16)
    output = np.zeros((1, before + columns * (HEIGHT // 32), 85), np.float32)
    sizes = np.log([(right - left) / 32, (bottom - top) / 32])
    output[0, before + int(y) * columns + int(x), :6] = [x % 1, y % 1, *sizes, 1, score]
    return write_net(file, inputs={"images": (1, 3, HEIGHT, WIDTH)}, outputs={"output": output})


def rt_detr(file: Path) -> Path:
    """The picture is stretched, and boxes come in pixels of what `orig_target_sizes` says: the input."""
    boxes = np.array([[scaled(REFERENCE_BOX, 640 / 640, 640 / 480), (0, 0, 9, 9)]], np.float32)
    outputs = {"labels": np.array([[0, 7]]), "boxes": boxes, "scores": np.array([[SCORE, 0.9]], np.float32)}
    return write_net(file, inputs={"images": (1, 3, 640, 640), "orig_target_sizes": (1, 2)}, outputs=outputs)


def transformers(file: Path) -> Path:
    left, top, right, bottom = scaled(REFERENCE_BOX, 1 / 640, 1 / 480)
    boxes = np.array([[((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)]], np.float32)
    logits = np.full((1, 1, 80), -9, np.float32)
    logits[0, 0, 0] = np.log(SCORE / (1 - SCORE))
    outputs = {"logits": logits, "pred_boxes": boxes}
    return write_net(file, inputs={"pixel_values": (1, 3, 640, 640)}, outputs=outputs)


def nanodet_plus(file: Path) -> Path:
    """Whole bins: all of the weight is on one of them. The points of the grid are at the corners of cells."""
    left, top, right, bottom = scaled(REFERENCE_BOX)
    column, row, columns = round((left + right) / 128), round((top + bottom) / 128), 7
    sides = [column - left / 64, row - top / 64, right / 64 - column, bottom / 64 - row]
    before = 52 * 52 + 26 * 26 + 13 * 13
    output = np.zeros((1, before + columns * 7, 80 + 32), np.float32)
    bins = np.full((4, 8), -50.0)
    for number, side in enumerate(sides):
        bins[number, int(side) : int(side) + 2] = np.log([1 - side % 1, side % 1])
    output[0, before + row * columns + column, 0] = SCORE
    output[0, before + row * columns + column, 80:] = bins.ravel()
    return write_net(file, inputs={"data": (1, 3, HEIGHT, WIDTH)}, outputs={"output": output})


CARDS: dict[Callable[[Path], Path], str] = {
    yolox: 'layout = "yolox"\ninput = [416, 416]\nthreshold = 0.4\npadding = 114\n',
    rt_detr: 'layout = "rt-detr"\ninput = [640, 640]\nthreshold = 0.5\nstretched = true\ncolours = "rgb"\n',
    transformers: 'layout = "rt-detr"\ninput = [640, 640]\nthreshold = 0.5\nstretched = true\ncolours = "rgb"\n',
    nanodet_plus: 'layout = "nanodet"\ninput = [416, 416]\nthreshold = 0.4\nstrides = [8, 16, 32, 64]\ncell_centre=0\n',
}


def described(file: Path, card: str) -> Path:
    file.with_suffix(".toml").write_text(card, encoding="utf-8")
    return file


@pytest.mark.parametrize("write", CARDS, ids=lambda write: write.__name__)
def test_a_net_of_each_layout_finds_people_where_they_are(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    net = load_person_model(described(write(tmp_path / "net.onnx"), CARDS[write]))
    assert person_net() is net
    (person,) = find_persons(FRAME)
    assert (person.left, person.top, person.right, person.bottom) == pytest.approx(REFERENCE_BOX, abs=0.5)
    assert person.confidence > CONFIDENCE_AT_LEAST


@pytest.mark.parametrize(("threshold", "confidence"), [(0.8, 0.45), (0.6, 0.725), (0.9, 0.4)])
def test_the_threshold_of_a_net_becomes_the_confidence_from_which_a_box_is_a_person(
    tmp_path: Path, threshold: float, confidence: float
) -> None:
    card = CARDS[yolox].replace("0.4", "0.5")
    load_person_model(described(yolox(tmp_path / "net.onnx"), card))
    described(tmp_path / "net.onnx", card.replace("0.5", str(threshold)))
    if threshold > SCORE:
        with pytest.raises(ModelsUnavailable, match="finds nobody"):
            load_person_model(tmp_path / "net.onnx")
        return
    load_person_model(tmp_path / "net.onnx")
    (person,) = find_persons(FRAME)
    assert person.confidence == pytest.approx(confidence, abs=1e-5)


REFUSALS = {
    "wrong_size": (CARDS[yolox].replace("[416, 416]", "[640, 640]"), r"takes an input of \[1, 3, 416, 416\].*`input`"),
    "wrong_layout": (CARDS[rt_detr].replace("640", "416"), r"outputs of the layout 'rt-detr'.*Correct `layout`"),
    "wrong_classes": (CARDS[yolox] + "classes = 1\n", r"\[1, 3549, 5 \+ 1\].*`classes`"),
    "other_class": (CARDS[yolox] + "person_class = 5\n", r"finds nobody in the reference picture.*`person_class`"),
    "too_strict": (CARDS[yolox].replace("0.4", "0.9"), r"finds nobody.*Correct `threshold`"),
    "unknown_word": (CARDS[yolox] + "colors = 'rgb'\n", r"net.toml, is wrong: .*`colors`.*person-model.md"),
    "unknown_layout": ('layout = "ssd"\ninput = [9, 9]\nthreshold = 0.4\n', r"is wrong: Invalid enum value 'ssd'"),
    "class_out_of_range": (CARDS[yolox] + "person_class = 80\n", r"is wrong: person_class 80 .* 80 classes"),
    "no_spread": (CARDS[yolox] + "spread = [1, 0, 1]\n", r"is wrong: spread .* 0"),
    "not_toml": ("layout: yolox", r"net.toml, is wrong"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_card_that_does_not_fit_is_refused_with_the_remedy(tmp_path: Path, name: str) -> None:
    card, complaint = REFUSALS[name]
    with pytest.raises(ModelsUnavailable, match=complaint):
        load_person_model(described(yolox(tmp_path / "net.onnx"), card))
    assert person_net() is person_model.BUNDLED_NET


def test_a_net_that_finds_somebody_elsewhere_is_refused(tmp_path: Path) -> None:
    file = yolox(tmp_path / "net.onnx", box=(20, 150, 200, 440))
    with pytest.raises(ModelsUnavailable, match=r"but at \[20, 150, 200, 440\] instead of .*`stretched`"):
        load_person_model(described(file, CARDS[yolox]))


def test_the_guide_explains_every_key_and_its_card_is_one(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[4] / "docs/guides/person-model.md").read_text(encoding="utf-8")
    keys = [field.name for field in msgspec.structs.fields(PersonModelCard)]
    assert [key for key in keys if f"`{key}`" not in guide.partition("## Nets")[0]] == []
    card = guide.partition("```toml\n")[2].partition("```")[0]
    assert read_card(described(tmp_path / "net.onnx", card)).layout == "yolox"
    for row in (line for line in guide.splitlines() if "`layout = " in line):
        listed = re.findall(r"`(\w+ = [^`]*)`", row)
        assert read_card(described(tmp_path / "net.onnx", "\n".join(listed))).input in ((416, 416), (640, 640))


def test_files_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelsUnavailable, match=r"ONLOOKER_PERSON_MODEL names .*net.onnx, which is no file"):
        load_person_model(tmp_path / "net.onnx")
    (tmp_path / "net.onnx").write_bytes(b"not a net")
    with pytest.raises(ModelsUnavailable, match=r"net.toml, is missing. Write one"):
        load_person_model(tmp_path / "net.onnx")
    with pytest.raises(ModelsUnavailable, match=r"net.onnx can't be loaded as an ONNX model"):
        load_person_model(described(tmp_path / "net.onnx", CARDS[yolox]))
