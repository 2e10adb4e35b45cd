"""What the section of who came shows on a page of its own."""

import html
import json
import re
from typing import Any

from django.test import Client

from dashboard_numbers import Shown
from onlooker.streams.models import Stream

WEEK = "from=2026-11-02&to=2026-11-08"


class ShownSection(Shown):
    """What the section shows: its tables and the data of its charts."""

    @property
    def charts(self) -> dict[str, Any]:
        _, _, after = self.page.partition('<script id="who-data" type="application/json">')
        found: dict[str, Any] = json.loads(after.partition("</script>")[0])
        return found


def show_section(
    browser: Client, stream: Stream, query: str = WEEK, *, status: int = 200, **headers: str
) -> ShownSection:
    answer = browser.get(f"/streams/{stream.client_id}/dashboard/breakdowns/?{query}", headers=headers)
    assert answer.status_code == status, answer.content.decode()
    return ShownSection(answer.content.decode())


def segment(shown: Shown, name: str) -> str:
    found = re.search(rf'id="{re.escape(name)}"[^>]*href="\?([^"]*)"', shown.page)
    assert found, name
    return html.unescape(found[1])
