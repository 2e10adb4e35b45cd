"""The section of a version in CHANGELOG.md, which becomes the notes of its release."""

import re

from deploy.release.source_tree import ReleaseError


def release_notes(changelog: str, version: str) -> str:
    """The section as it stands, with its heading."""
    sections = re.split(r"^(?=## \[)", changelog, flags=re.MULTILINE)
    for section in sections:
        if section.startswith(f"## [{version}]"):
            return section.strip() + "\n"
    raise ReleaseError(f"CHANGELOG.md has no section `## [{version}]`. Write one, or set the packages' version to one.")


def is_dated(notes: str) -> bool:
    """Whether the heading ends with a day, as it does once a version is released."""
    return re.search(r"\] - \d{4}-\d\d-\d\d$", notes.splitlines()[0]) is not None
