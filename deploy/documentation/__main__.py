"""`just docs-site`: builds the site into the console's package; the last line is one JSON object."""

import shutil
import sys
import zlib
from pathlib import Path

from bench.lib.product import conclude, concluding, say
from deploy.documentation.site import build_site

ROOT = Path(__file__).resolve().parents[2]
PLACE = Path("server/src/onlooker/console/documentation/site")
"""In a tree of the repository; hatchling packs it."""
LIMIT_BYTES = 3_000_000
"""Packed, as it is in the wheel."""


@concluding
def main() -> None:
    site = build_site(ROOT)
    if not site.stands_in(ROOT / PLACE):  # a product that serves it, or a drill, may run meanwhile
        shutil.rmtree(ROOT / PLACE, ignore_errors=True)
        site.write(ROOT / PLACE)
    for fault in site.broken:
        say(f"broken link: {fault}")
    packed = sum(len(zlib.compress(content)) for content in site.files.values())
    conclude(
        {
            "ok": not site.broken and packed <= LIMIT_BYTES,
            "pages": site.pages,
            "files": len(site.files),
            "broken_links": len(site.broken),
            "bytes": site.bytes,
            "packed_bytes": packed,
            "packed_bytes_limit": LIMIT_BYTES,
        }
    )


if __name__ == "__main__":
    sys.exit(main())
