"""URLs for programs: tokens, the keys that verify them, and the OpenAPI document."""

from django.urls import path

from onlooker.console.tokens.openapi import show_document
from onlooker.console.tokens.views import create_token, show_jwks

urlpatterns = [
    path("api-token-authstream/", create_token, name="token"),
    path("api-token-authstream", create_token, name="token-without-slash"),
    path(".well-known/jwks.json", show_jwks, name="jwks"),
    path("openapi.json", show_document, name="openapi"),
]
