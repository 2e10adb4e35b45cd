"""A release's checksums are signed with an SSH key, which the repository does not have."""

import os
import subprocess
from pathlib import Path

from deploy.release.source_tree import ReleaseError

KEY_VARIABLE = "RELEASE_KEY_FILE"
SIGNER = "onlooker-releases"
NAMESPACE = "onlooker-release"
"""A signature made for one purpose is not valid for another."""


def signing_key() -> Path | None:
    named = os.environ.get(KEY_VARIABLE)
    if not named:
        return None
    key = Path(named).expanduser()
    if not key.is_file():
        raise ReleaseError(f"{KEY_VARIABLE} names {key}, where there is no file.")
    return key


def sign(file: Path, key: Path) -> Path:
    """Writes `<file>.sig`; ssh-keygen asks for the key's passphrase, or has ssh-agent sign if given a public key."""
    signature = file.with_name(f"{file.name}.sig")
    signature.unlink(missing_ok=True)
    command = ["ssh-keygen", "-Y", "sign", "-q", "-f", str(key), "-n", NAMESPACE, str(file)]
    if subprocess.run(command, check=False).returncode or not signature.is_file():
        raise ReleaseError(f"ssh-keygen could not sign with {key}; it says why above.")
    return signature


def allowed_signer(key: Path) -> str:
    """The line of `allowed_signers` by which people verify; ssh-keygen puts the public half beside the key."""
    public = key if key.suffix == ".pub" else key.with_name(f"{key.name}.pub")
    if not public.is_file():
        raise ReleaseError(f"There is no {public}. Write it with: ssh-keygen -y -f {key} >{public}")
    kind, material = public.read_text(encoding="utf-8").split()[:2]
    return f'{SIGNER} namespaces="{NAMESPACE}" {kind} {material}'
