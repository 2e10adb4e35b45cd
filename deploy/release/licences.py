"""Which licences a release may contain, and what the packages' metadata mean."""

import re
from typing import Any

ACCEPTED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "ISC",
        "LGPL-2.1-or-later",
        "LGPL-3.0-only",
        "MIT",
        "MIT-0",
        "MPL-2.0",
        "PSF-2.0",
        "Zlib",
    }
)
"""SPDX identifiers. All others, AGPL and non-commercial ones among them, stop a release until somebody decides."""
SPDX_OF_NAME = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "License :: OSI Approved :: Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "MIT License": "MIT",
}
"""Words that name one licence only. "BSD" does not, nor "Apache Software License", which has versions."""
READ = {
    "fido2": "BSD-2-Clause AND Apache-2.0 AND MPL-2.0",
    "flatbuffers": "Apache-2.0",
    "opencv-python-headless": "Apache-2.0 AND LGPL-2.1-or-later",
    "protobuf": "BSD-3-Clause",
    "pydyf": "BSD-3-Clause",
    "pyrage": "MIT",
    "qrcode": "BSD-3-Clause AND MIT",
    "requests": "Apache-2.0",
    "sqlparse": "BSD-3-Clause",
    "uvloop": "Apache-2.0 OR MIT",
}
"""Packages whose metadata say too little, such as "BSD", nothing about the FFmpeg inside OpenCV, or "Other" for parts
that are under MIT: what their licence files say, or for flatbuffers the words "Apache 2.0" of its metadata."""

Component = dict[str, Any]


def conclude_licence(component: Component) -> str | None:
    """An SPDX expression, or None if nothing is declared that has one meaning."""
    if component["name"] in READ:
        return READ[component["name"]]
    declared = component.get("licenses", [])
    for entry in declared:
        if "expression" in entry:
            return str(entry["expression"])
    named = [_spdx_of(entry["license"]) for entry in declared]
    return " AND ".join(sorted(set(filter(None, named)))) or None if all(named) else None


def refused_identifiers(expression: str) -> set[str]:
    """Those that are not accepted; of a choice (OR), all must be accepted."""
    named = re.split(r"\s+(?:AND|OR|WITH)\s+|[()]", expression)
    return {identifier.strip() for identifier in named if identifier.strip()} - ACCEPTED


def _spdx_of(licence: dict[str, str]) -> str | None:
    return licence.get("id") or SPDX_OF_NAME.get(licence.get("name", ""))
