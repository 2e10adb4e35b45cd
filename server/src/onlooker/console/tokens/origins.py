"""Pages of any origin may ask for a token: what opens a stream is in the body, and no cookie is looked at."""

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

TOKEN_PATHS = ("/api-token-authstream/", "/api-token-authstream")
PREFLIGHT_S = 600


def open_to_all_origins(app: ASGIApp) -> ASGIApp:
    """ASGI middleware around everything that answers, so that a page can read every refusal."""
    return CORSMiddleware(
        app,
        allow_origins=["*"],
        allow_methods=["POST"],
        allow_headers=["*"],
        allow_private_network=True,
        expose_headers=["Retry-After", "X-Request-Id"],
        max_age=PREFLIGHT_S,
    )
