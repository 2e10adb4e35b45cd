"""Pythons of other versions that this machine has: on the PATH, or where pyenv and uv keep theirs."""

import os
import shutil
import subprocess
from pathlib import Path


def find_interpreter(version: str) -> Path | None:
    """A Python of a version such as "3.12", if there is one that starts: a shim of pyenv may not."""
    named = f"python{version}"
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    uv = Path(os.environ.get("XDG_DATA_HOME", Path.home() / ".local" / "share")) / "uv" / "python"
    found = [*sorted(pyenv.glob(f"{version}.*/bin/{named}")), *sorted(uv.glob(f"cpython-{version}.*/bin/{named}"))]
    if on_path := shutil.which(named):
        found.append(Path(on_path))
    return next((path for path in reversed(found) if _starts(path, version)), None)


def _starts(path: Path, version: str) -> bool:
    said = "import sys, ssl; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([path, "-c", said], capture_output=True, text=True, timeout=30, check=False)
    return done.returncode == 0 and done.stdout.strip() == version
