"""What a browser would send of the forms on a page, for tests."""

from html.parser import HTMLParser
from typing import Any


class _Fields(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}
        self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "select":
            self._select = given.get("name") or ""
        elif tag == "option" and "selected" in given:
            self.found[self._select] = given.get("value") or ""
        elif tag == "input" and given.get("name") and given.get("type") != "submit":
            is_box = given.get("type") in ("checkbox", "radio")
            if not is_box or "checked" in given:
                self.found[str(given["name"])] = given.get("value") or ("on" if is_box else "")


def fields_of(answer: Any) -> dict[str, str]:
    """Of all forms of the page that was answered, as it was shown."""
    fields = _Fields()
    fields.feed(answer.content.decode())
    return fields.found
