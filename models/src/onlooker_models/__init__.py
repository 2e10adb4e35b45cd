"""Where the nets lie that Onlooker computes with."""

import hashlib
from pathlib import Path

__all__ = ["FILES", "UnknownModelError", "find_damaged", "path"]

FILES = (
    "age.onnx",
    "canonical_face.npy",
    "emotion_fa.onnx",
    "emotion_mx.onnx",
    "face_detect.onnx",
    "face_landmark.onnx",
    "gender.onnx",
    "iris_landmark.onnx",
    "person_detect.onnx",
)

_DATA = Path(__file__).parent / "data"
_SUMS = Path(__file__).parent / "SHA256SUMS"


class UnknownModelError(KeyError):
    """The name is not one of FILES."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"no model file is named {self.name!r}; there are: {', '.join(FILES)}"


def path(name: str) -> Path:
    """The installed file of that name, e.g. `path("face_detect.onnx")`."""
    if name not in FILES:
        raise UnknownModelError(name)
    file = _DATA / name
    if not file.is_file():
        # The source tree holds no weights; only the built wheel does.
        raise FileNotFoundError(f"{file} is missing: this is not the built wheel; run `just models`")
    return file


def find_damaged() -> list[str]:
    """Files that are missing or are not the ones that were built, by their SHA-256."""
    lines = _SUMS.read_text(encoding="utf-8").splitlines() if _SUMS.is_file() else []
    sums = {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}
    return [name for name in FILES if _sha256_of(_DATA / name) != sums.get(name)]


def _sha256_of(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else "missing"
