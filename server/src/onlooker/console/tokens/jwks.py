"""`GET /.well-known/jwks.json`: the public keys that verify tokens."""

import hashlib

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response

from onlooker.console.tokens.answers import json_answer, json_route
from onlooker.console.tokens.keys import live_keys, signing_key

MAX_AGE_S = 60


@json_route("GET", "HEAD")
def show_keys(request: HttpRequest) -> HttpResponse:
    """The one that signs first; whoever meets a kid that is not there fetches again."""
    signing_key()
    keys = list(live_keys().values_list("public_jwk", flat=True))
    answer = json_answer({"keys": keys}, Cache_Control=f"public, max-age={MAX_AGE_S}", Access_Control_Allow_Origin="*")
    answer["ETag"] = f'"{hashlib.sha256(answer.content).hexdigest()[:32]}"'
    return get_conditional_response(request, etag=answer["ETag"], response=answer) or answer
