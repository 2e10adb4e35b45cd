"""`just install-release`: follows the commands of docs/guides/install.md with the files of dist/release, and weighs it.

The commands are run word for word, without `sudo` and in another folder than /opt.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.lib.product import conclude, concluding, say
from deploy.release.signature import SIGNER, allowed_signer, sign
from deploy.release.source_tree import ROOT, ReleaseError

RELEASE = ROOT / "dist" / "release"
GUIDE = ROOT / "docs" / "guides" / "install.md"
LIMIT_MB = 560
"""It has 545: whatever adds 15 is worth a look."""
LIMIT_S = 900
REACHES_THE_INDEX = ("HTTP", "http", "NO_PROXY", "PIP_", "REQUESTS_", "SSL_")
"""How variables begin that tell pip where and by which certificates it finds packages."""
LARGEST = 8
BROUGHT_BY_VENV = {"pip", "setuptools"}
OURS = {"onlooker", "onlooker-models", "onlooker-pipeline"}
WEIGH = """
import json
from importlib.metadata import distributions
print(json.dumps({d.name.lower().replace("_", "-"): sum(f.size or 0 for f in d.files or ()) for d in distributions()}))
"""


@concluding
def main() -> None:
    if not (RELEASE / "SHA256SUMS").is_file():
        raise ReleaseError("There is no release in dist/release. Run `just release` first.")
    with tempfile.TemporaryDirectory(prefix="onlooker-install-") as scratch:
        download, opt = Path(scratch) / "download", Path(scratch) / "opt"
        shutil.copytree(RELEASE, download)
        opt.mkdir()
        sign_with_new_key(download, Path(scratch) / "key")
        seconds = {}
        for heading in ("Check the files", "Install the server", "Install the agent on a device"):
            say(f"{heading} ...")
            began = time.monotonic()
            run_commands(heading, download, opt)
            seconds[heading] = round(time.monotonic() - began, 1)
        agent = download.parent / "onlooker-agent" / "bin" / "onlooker-agent"
        subprocess.run([agent, "--version"], stdout=sys.stderr, check=True)
        conclude(figures(opt, download) | {"seconds": seconds})


def sign_with_new_key(download: Path, key: Path) -> None:
    """As the project would: people have the line of its key from elsewhere."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", SIGNER, "-f", str(key)], check=True)
    sign(download / "SHA256SUMS", key)
    (download / "allowed_signers").write_text(allowed_signer(key) + "\n", encoding="utf-8")


def guide_commands(heading: str) -> list[str]:
    """The shell blocks of a section of the guide."""
    section = GUIDE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    if not blocks:
        raise ReleaseError(f"{GUIDE.name} has no commands under `{heading}`.")
    return blocks


def run_commands(heading: str, download: Path, opt: Path) -> None:
    """In a shell without variables of this one, so that no environment of development takes part."""
    script = "\n".join(guide_commands(heading)).replace("sudo ", "").replace("/opt", str(opt))
    variables = {name: value for name, value in os.environ.items() if name.startswith(REACHES_THE_INDEX)}
    variables |= {"HOME": str(download.parent), "PATH": outside_environments(os.environ["PATH"])}
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(
        command, cwd=download, env=variables, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode:
        raise ReleaseError(f"The guide's commands fail:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


def outside_environments(path: str) -> str:
    """Without the folders of virtual environments: `python3` is then the system's, as it is for a reader."""
    folders = path.split(os.pathsep)
    return os.pathsep.join(one for one in folders if not (Path(one).parent / "pyvenv.cfg").is_file())


def figures(opt: Path, download: Path) -> dict[str, Any]:
    venv = opt / "onlooker" / ".venv"
    weighed = subprocess.run([venv / "bin" / "python", "-c", WEIGH], capture_output=True, text=True, check=True).stdout
    sizes: dict[str, int] = json.loads(weighed)
    pins = (download / "requirements-server.txt").read_text(encoding="utf-8")
    pinned = set(re.findall(r"^([a-z0-9-]+)==", pins, re.MULTILINE)) | OURS
    unexpected = sorted(sizes.keys() - pinned - BROUGHT_BY_VENV)
    megabytes = round(sum(path.lstat().st_size for path in venv.rglob("*")) / 1e6, 1)
    has_units = (opt / "onlooker" / "deploy" / "systemd" / "onlooker.service").is_file()
    heaviest = sorted(sizes, key=lambda name: -sizes[name])[:LARGEST]
    return {
        "ok": not unexpected and sizes.keys() >= OURS and megabytes <= LIMIT_MB and has_units,
        "megabytes": megabytes,
        "megabytes_limit": LIMIT_MB,
        "packages": len(sizes),
        "unexpected": unexpected,
        "largest_megabytes": {name: round(sizes[name] / 1e6, 1) for name in heaviest},
    }


if __name__ == "__main__":
    main()
