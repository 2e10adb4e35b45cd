"""Addresses for programs: tokens, the keys that verify them, and what these routes take and give."""

from django.urls import path

from onlooker.console.tokens.endpoint import give_token
from onlooker.console.tokens.jwks import show_keys
from onlooker.console.tokens.openapi import show_document

urlpatterns = [
    path("api-token-authstream/", give_token, name="token"),
    path("api-token-authstream", give_token, name="token-without-slash"),
    path(".well-known/jwks.json", show_keys, name="jwks"),
    path("openapi.json", show_document, name="openapi"),
]
