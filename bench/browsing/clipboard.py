"""What a page's copy button put where a person would paste from."""

from bench.browsing.browser import Browser

PERMISSIONS = ["clipboardReadWrite", "clipboardSanitizedWrite"]
"""To grant one is to deny all others, writing too."""
_READ = "const done = arguments[0]; navigator.clipboard.readText().then(done, (fault) => done(`fault: ${fault}`));"


def copied(browser: Browser) -> str:
    """The clipboard's text; the browser lets a page read it only after somebody allowed it."""
    browser.execute_cdp_cmd("Browser.grantPermissions", {"permissions": PERMISSIONS})
    text: str = browser.execute_async_script(_READ)
    return text
