"""Takes out of the image's packages what no process of Onlooker loads. Runs while the image is built, with binutils.

OpenCV links against FFmpeg and libavif, which decode films and AVIF. A worker decodes JPEG and PNG only, so each of
their libraries is replaced with one whose functions return 0, and libraries that only they need are deleted: 41 MB, and
the largest decoders that an attacker could look for.
"""

import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UNUSED_FOLDERS = (
    *("numpy/**/tests", "numpy/f2py", "numpy/distutils"),
    "django/contrib/gis",
    *("onnxruntime/datasets", "onnxruntime/quantization", "onnxruntime/tools", "onnxruntime/transformers"),
)
UNUSED_FILES = (
    *("**/*.a", "**/*.pyi", "**/*.po"),
    "onnxruntime/capi/libonnxruntime.so.*",  # for programs in C; the module for Python has all of it inside
)
LANGUAGES = ("de", "en", "en_GB", "es", "fr")
"""Of the console. Of others nothing is loaded: no catalogue and no format, neither Django's own nor its apps'."""
WITH_SYMBOLS = ("cryptography/hazmat/bindings/*.so", "httptools/parser/*.so", "obstore/*.so", "uvloop/*.so")
"""Libraries with symbols for debuggers. Those with libraries of their own beside them must stay as they are."""
OPENCV, OPENCV_LIBRARIES = "cv2/cv2.abi3.so", "opencv_python_headless.libs"
REPLACED = ("libavcodec-", "libavformat-", "libavif-", "libavutil-", "libswscale-")
RETURN_ZERO = {"x86_64": "xorl %eax, %eax\nret", "aarch64": "mov x0, #0\nret"}
_SYMBOL = re.compile(r"(?P<section>\S+)\s+(?P<name>[A-Za-z_]\w*)(?:@@?(?P<version>\w+))?(?: \(\d+\))?$")


def remove_unused(site: Path) -> None:
    for pattern in UNUSED_FOLDERS:
        for folder in sorted(site.glob(pattern)):
            shutil.rmtree(folder, ignore_errors=True)
    for pattern in UNUSED_FILES:
        for file in site.glob(pattern):
            file.unlink()
    for language in sorted(site.glob("**/locale/*/")):
        if language.name not in (*LANGUAGES, "__pycache__"):
            shutil.rmtree(language)


def strip_symbols(site: Path) -> None:
    for pattern in WITH_SYMBOLS:
        for library in site.glob(pattern):
            subprocess.run(["strip", "--strip-unneeded", str(library)], check=True)


def replace_films(site: Path) -> None:
    """FFmpeg and libavif of OpenCV."""
    opencv, folder = site / OPENCV, site / OPENCV_LIBRARIES
    wanted = symbols_of(opencv, defined=False)
    for library in sorted(folder.iterdir()):
        if library.name.startswith(REPLACED):
            provided = symbols_of(library, defined=True)
            write_library(library, {name: provided[name] for name in sorted(wanted.keys() & provided.keys())})
    needed, waiting = set[str](), [opencv]
    while waiting:
        names = {name for name in needed_by(waiting.pop()) if (folder / name).exists()} - needed
        needed |= names
        waiting += [folder / name for name in names]
    for library in folder.iterdir():
        if library.name not in needed:
            library.unlink()


def symbols_of(library: Path, *, defined: bool) -> dict[str, str | None]:
    """The version of each symbol that it defines, or wants from others."""
    found = {}
    for line in read_elf("--dyn-syms", library).splitlines():
        symbol = _SYMBOL.search(line)
        if symbol and (symbol["section"] == "UND") != defined:
            found[symbol["name"]] = symbol["version"]
    return found


def needed_by(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.+)\]", read_elf("--dynamic", library))


def read_elf(what: str, library: Path) -> str:
    return subprocess.run(["readelf", "--wide", what, str(library)], check=True, capture_output=True, text=True).stdout


def write_library(path: Path, symbols: dict[str, str | None]) -> None:
    """One of the same name, whose functions do nothing."""
    lines = ['.section .note.GNU-stack,"",%progbits', ".text", "nothing:", RETURN_ZERO[platform.machine()]]
    for name in symbols:
        lines += [f".globl {name}", f".type {name}, %function", f".set {name}, nothing"]
    with tempfile.TemporaryDirectory() as folder:
        source, code, versions = (Path(folder) / name for name in ("nothing.s", "nothing.o", "versions"))
        source.write_text("\n".join([*lines, ""]), encoding="utf-8")
        subprocess.run(["as", "-o", str(code), str(source)], check=True)
        command = ["ld", "-shared", "-z", "noexecstack", "-soname", path.name, "-o", str(path)]
        if version := next(filter(None, symbols.values()), None):
            versions.write_text(f"{version} {{ global: *; }};\n", encoding="utf-8")
            command += ["--version-script", str(versions)]
        path.unlink()
        subprocess.run([*command, str(code)], check=True)


def main() -> None:
    for site in Path(sys.argv[1]).glob("lib/python3*/site-packages"):
        remove_unused(site)
        strip_symbols(site)
        replace_films(site)


if __name__ == "__main__":
    main()
