"""How an address outside stops getting a report: with one click in its mail program, or on a page."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from onlooker.audit.actor import acting_as
from onlooker.console.reports.mailed_reports import find_recipient, unsubscribe

RECIPIENT = "recipient"
"""Who acts, in the audit log."""


# Mail programs post here by themselves (RFC 8058), without a form of ours. A link that is only opened changes nothing:
# programs that look for viruses open all of them.
@csrf_exempt
@require_http_methods(["GET", "HEAD", "POST"])
def show_unsubscription(request: HttpRequest, token: str) -> HttpResponse:
    recipient = find_recipient(token)
    if recipient is None:
        answer = render(request, "reports/unknown_recipient.html", status=HTTPStatus.NOT_FOUND)
    elif request.method == "POST":
        with acting_as(RECIPIENT):
            unsubscribe(recipient)
        answer = render(request, "reports/unsubscribed.html")
    else:
        page = "reports/unsubscribed.html" if recipient.stopped_at else "reports/unsubscribe.html"
        answer = render(request, page, {"report": recipient.report})
    answer["Referrer-Policy"], answer["X-Robots-Tag"] = "no-referrer", "noindex"
    return answer
