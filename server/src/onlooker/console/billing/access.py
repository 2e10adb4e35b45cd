"""Pages of billing are there only where there is billing."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.http import Http404, HttpRequest, HttpResponse

from onlooker.console.billing.configuration import is_billing_on

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def with_billing(view: View[P]) -> View[P]:
    """A page that does not exist where no Stripe keys are set."""

    @wraps(view)
    def answer(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not is_billing_on():
            raise Http404
        return view(request, *args, **kwargs)

    return answer
