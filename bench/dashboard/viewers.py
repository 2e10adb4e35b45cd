"""Somebody who may see a stream's numbers sees nothing else of it."""

from bench.browsing import console_errors
from bench.dashboard.comparing import compare_report
from bench.dashboard.figures import Figure
from bench.dashboard.stage import Stage, dashboard_path
from bench.dashboard.world import VIEWER, open_source
from bench.data_client import OWNER

OWNERS_PAGES = ("settings/", "rotate/", "members/", "remove/", "connection/", "try/")
_LINKS = "return [...document.querySelectorAll('a[href], form[action]')].map((one) => one.href ?? one.action)"
_STATUS = "const [url, done] = arguments; fetch(url).then((answer) => done(answer.status))"


def look_as_viewer(stage: Stage) -> list[Figure]:
    """The dashboard of a shared stream, and what is not there for a viewer; then the owner is back."""
    shop, browser = stage.world.shop, stage.person.browser
    stage.sign_in(VIEWER)
    shown = stage.open_dashboard(shop, period="7d")
    compare_report(stage, shown, open_source(stage.stack, shop), "viewer 7d")
    links = browser.execute_script(_LINKS)
    for page in OWNERS_PAGES:
        path = f"/streams/{shop.client_id}/{page}"
        stage.check(not any(path in link for link in links), f"viewer: there is a link to {page}")
        status = browser.execute_async_script(_STATUS, path)
        stage.check(status == 404, f"viewer: {page} answers {status}")
    for path in ("", "table.csv", "live/"):
        status = browser.execute_async_script(_STATUS, f"{dashboard_path(stage.world.museum)}{path}")
        stage.check(status == 404, f"viewer: {path or 'the dashboard'} of another stream answers {status}")
    console_errors(browser)  # the 404s
    stage.look("viewer")
    stage.sign_in(OWNER)
    return [Figure("viewer_pages_closed", len(OWNERS_PAGES))]
