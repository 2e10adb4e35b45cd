"""A page as it is printed."""

import base64
import re
from pathlib import Path

from bench.browsing.browser import Browser

A4_INCHES = {"paperWidth": 210 / 25.4, "paperHeight": 297 / 25.4}
MARGINS_INCHES = {f"margin{side}": 10 / 25.4 for side in ("Top", "Bottom", "Left", "Right")}
_PAGE = re.compile(rb"/Type\s*/Page\b")


def print_pages(browser: Browser, path: Path) -> int:
    """Print what is open as A4 upright to a PDF file; how many sheets that takes."""
    options = {**A4_INCHES, **MARGINS_INCHES, "printBackground": False, "preferCSSPageSize": True}
    document = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", options)["data"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(document)
    return len(_PAGE.findall(document))
