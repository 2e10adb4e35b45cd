"""`onlooker prove` reads model files: an output that no card lists breaks the promise that nobody is identified."""

from pathlib import Path

import onlooker_models
import pytest

from onlooker.console.notices.conformity import read_sheets
from onlooker.proof.installation import Installation
from onlooker.proof.model_outputs import (
    IDENTITY,
    KINDS,
    LEARNING,
    CardOutput,
    Shape,
    check_models,
    judge_outputs,
    read_card,
    read_outputs,
)
from onlooker.settings import Settings
from onlooker_pipeline.vision import expression

CARD = {"age": CardOutput("estimate", (None, 1)), "boxes": CardOutput("box", (1, None, 4))}
FLOAT32 = 1


def field(number: int, value: bytes | int | str) -> bytes:
    """A field of a message in the format of protocol buffers."""
    if isinstance(value, int):
        return bytes([number << 3]) + varint(value)
    content = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value: int) -> bytes:
    low = value & 127
    return bytes([low | 128]) + varint(value >> 7) if value > 127 else bytes([low])


def tensor(name: str, shape: tuple[int, ...]) -> bytes:
    sides = b"".join(field(1, field(1, side)) for side in shape)
    return field(1, name) + field(2, field(1, field(1, FLOAT32) + field(2, sides)))


def write_net(file: Path, outputs: dict[str, tuple[int, ...]]) -> None:
    """A net that hands on each of its inputs as an output."""
    nodes = b"".join(field(1, field(1, f"in_{name}") + field(2, name) + field(4, "Identity")) for name in outputs)
    inputs = b"".join(field(11, tensor(f"in_{name}", shape)) for name, shape in outputs.items())
    told = b"".join(field(12, tensor(name, shape)) for name, shape in outputs.items())
    graph = nodes + field(2, "net") + inputs + told
    file.write_bytes(field(1, 8) + field(7, graph) + field(8, field(2, 17)))


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    return Installation(Settings(home=str(tmp_path / "home")), tmp_path, print)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the installed files, in which some can be replaced."""
    folder = tmp_path / "models"
    folder.mkdir()
    for name in onlooker_models.FILES:
        (folder / name).symlink_to(onlooker_models.path(name))
    monkeypatch.setattr(onlooker_models, "_DATA", folder)
    return folder


def test_every_output_of_the_installed_models_is_listed(installation: Installation) -> None:
    finding = check_models(installation)
    assert finding.ok, finding.found
    assert finding.figures["files"] == 8
    assert sum(finding.figures["outputs"].values()) == 27
    assert finding.limits == ()


def test_cards_list_nothing_that_the_files_do_not_have() -> None:
    for name, sheet in read_sheets().items():
        card = read_card(sheet)
        assert set(card) == set(read_outputs(onlooker_models.path(f"{name}.onnx"))), name
        assert {one.kind for one in card.values()} <= set(KINDS), name


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"age": (None, 1), "embedding": (None, 128)}, "'embedding' of shape [any, 128] that its card does not list"),
        ({"age": (None, 128)}, "'age' in the shape [any, 128], its card says [any, 1]"),
        ({"boxes": (1, None, None)}, "'boxes' in the shape [1, any, any], its card says [1, any, 4]"),
    ],
)
def test_output_that_the_card_does_not_list_is_named(found: dict[str, Shape], words: str) -> None:
    (sentence,) = judge_outputs("net.onnx", found, CARD)
    assert words in sentence


def test_kind_that_is_none_is_named() -> None:
    (sentence,) = judge_outputs("net.onnx", {"face": (1, 128)}, {"face": CardOutput("embedding", (1, 128))})
    assert "calls 'face' 'embedding', which is none of box, score, point, estimate" in sentence


def test_file_without_a_card_is_named() -> None:
    assert list(judge_outputs("arcface.onnx", {"fc1": (1, 512)}, None)) == ["arcface.onnx has no card."]


def test_net_with_an_embedding_breaks_the_promise(installation: Installation, models: Path) -> None:
    (models / "gender.onnx").unlink()
    write_net(models / "gender.onnx", {"probabilities": (1, 2), "features": (1, 512)})
    finding = check_models(installation)
    assert not finding.ok
    assert IDENTITY in finding.broken
    assert "gender.onnx has an output 'features' of shape [1, 512] that its card does not list" in finding.found


def test_net_beside_the_others_breaks_the_promise(installation: Installation, models: Path) -> None:
    write_net(models / "arcface.onnx", {"fc1": (1, 512)})
    finding = check_models(installation)
    assert set(finding.broken) == {IDENTITY, LEARNING}
    assert "arcface.onnx has no card." in finding.found


def test_changed_file_breaks_the_promise_that_models_learn_nothing(installation: Installation, models: Path) -> None:
    changed = (models / "canonical_face.npy").read_bytes()[:-1] + b"\1"
    (models / "canonical_face.npy").unlink()
    (models / "canonical_face.npy").write_bytes(changed)
    finding = check_models(installation)
    assert finding.broken == (LEARNING,)
    assert "canonical_face.npy is not the file that was built." in finding.found


def test_net_of_the_operator_is_said_not_to_be_judged(tmp_path: Path) -> None:
    settings = Settings(home=str(tmp_path), person_model="/etc/onlooker/yolox_s.onnx")
    finding = check_models(Installation(settings, tmp_path, print))
    assert finding.ok
    assert "/etc/onlooker/yolox_s.onnx" in finding.limits[0]


def test_cards_say_by_which_shares_the_two_expression_nets_are_mixed() -> None:
    colour, grey = expression.COLOUR_WEIGHT, round(1 - expression.COLOUR_WEIGHT, 2)
    sheets = read_sheets()
    assert f"Onlooker mixes it with emotion_mx.onnx, {colour} to {grey}." in sheets["emotion_fa"].about
    assert f"Onlooker mixes it with emotion_fa.onnx, {grey} to {colour}." in sheets["emotion_mx"].about
