"""Reads the installed model files: each output must be one that the model's card lists."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from onlooker.proof.check import Check, Finding, Unchecked

if TYPE_CHECKING:
    from onlooker.console.notices.conformity import ModelSheet
    from onlooker.proof.installation import Installation

KINDS = ("box", "score", "point", "estimate")
"""What a net may say about a picture. Anything else, an embedding above all, could tell people apart."""
FILE_SUFFIX = ".onnx"

Shape = tuple[int | None, ...]
"""None for a side of any length."""
IDENTITY, LEARNING = "nobody-is-identified", "models-learn-nothing"


@dataclass(frozen=True)
class CardOutput:
    """An output as its model's card lists it."""

    kind: str
    shape: Shape


def read_card(sheet: "ModelSheet") -> dict[str, CardOutput]:
    """By the output's name; several may share a row."""
    return {
        name.strip(): CardOutput(kind, _card_shape(shape))
        for names, shape, kind, *_ in sheet.outputs.rows
        for name in names.split(",")
    }


def _card_shape(text: str) -> Shape:
    """`[1, n, 80]`: a letter is a side of any length."""
    sides = text.strip("[]").split(",")
    return tuple(int(side) if side.strip().isdigit() else None for side in sides)


def judge_outputs(name: str, found: Mapping[str, Shape], card: Mapping[str, CardOutput] | None) -> Iterator[str]:
    """What is wrong with the outputs of a model file, in sentences."""
    if card is None:
        yield f"{name} has no card."
        return
    for output, shape in found.items():
        listed = card.get(output)
        if listed is None:
            yield f"{name} has an output {output!r} of shape {_text(shape)} that its card does not list."
        elif listed.kind not in KINDS:
            yield f"The card of {name} calls {output!r} {listed.kind!r}, which is none of {', '.join(KINDS)}."
        elif not _fits(shape, listed.shape):
            yield f"{name} has {output!r} in the shape {_text(shape)}, its card says {_text(listed.shape)}."


def _fits(shape: Shape, listed: Shape) -> bool:
    """The last side says how many numbers there are of one face or place: it must be fixed."""
    return shape == listed and shape[-1] is not None


def _text(shape: Shape) -> str:
    return f"[{', '.join('any' if side is None else str(side) for side in shape)}]"


def read_outputs(file: Path) -> dict[str, Shape]:
    """The outputs of a model file, as the runtime that computes with it sees them."""
    from onlooker_pipeline.vision.networks import Network

    shapes = Network(str(file), provider="cpu", threads=1).output_shapes
    return {name: tuple(side if isinstance(side, int) else None for side in shape) for name, shape in shapes.items()}


def check_models(installation: "Installation") -> Finding:
    """Every file of the models package, whether or not anything uses it."""
    from onlooker.console.notices.conformity import read_sheets

    folder = _models_folder()
    sheets = read_sheets()
    files = sorted(folder.glob(f"*{FILE_SUFFIX}"))
    unlisted, kinds = list[str](), dict.fromkeys(KINDS, 0)
    for file in files:
        card = read_card(sheets[file.stem]) if file.stem in sheets else None
        outputs = read_outputs(file)
        unlisted += judge_outputs(file.name, outputs, card)
        for output in outputs:
            if card and output in card and card[output].kind in kinds:
                kinds[card[output].kind] += 1
    changed = _changed_files(folder)
    broken = (*((IDENTITY,) if unlisted else ()), *((LEARNING,) if changed else ()))
    return Finding(
        done=f"Read the {len(files)} model files of the models package, compared each of their outputs, by name and "
        "shape, with the list in the model's card, and compared the files with the sums of those that were built.",
        found=" ".join((*unlisted, *changed)) or _told(kinds),
        ok=not broken,
        figures={"files": len(files), "outputs": kinds, "unlisted": unlisted, "changed": changed},
        broken=broken,
        limits=_limits(installation.settings.person_model),
    )


def _told(kinds: Mapping[str, int]) -> str:
    counted = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
    return f"Every output is listed ({counted}). None is an embedding. No file has changed."


def _limits(person_model: str) -> tuple[str, ...]:
    if not person_model:
        return ()
    return (
        f"Bodies are found with a net of the operator's, {person_model}, for which there is no card to judge it by.",
    )


def _models_folder() -> Path:
    try:
        import onlooker_models
    except ImportError:
        raise Unchecked("The models are not installed where this command runs. Run it where workers run.") from None
    return onlooker_models.path(onlooker_models.FILES[0]).parent


def _changed_files(folder: Path) -> list[str]:
    import onlooker_models

    strangers = sorted({path.name for path in folder.iterdir()} - set(onlooker_models.FILES))
    return [
        *(f"{name} is not the file that was built." for name in onlooker_models.find_damaged()),
        *(f"{name} is no file of the models package." for name in strangers),
    ]


CHECK = Check(
    id="models",
    title="Reads the model files",
    promises=(IDENTITY, LEARNING),
    run=check_models,
)
