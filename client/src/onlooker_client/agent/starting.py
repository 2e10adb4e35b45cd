"""What is asked of the server before the first frame: whether it is there, and whether the stream may send."""

from __future__ import annotations

from typing import Any

from onlooker_client.agent.sending.holding import ASKS_AGAIN, SWITCHED_OFF, in_words, used_up
from onlooker_client.agent.telling.journal import Journal
from onlooker_client.errors import BadCredentials, BadRequest, ConfigError, LinkError, NotNow, Refused
from onlooker_client.wire.transport import Repeat, Transport

LIMIT_S = 5.0


def check_server(transport: Transport, journal: Journal) -> None:
    """Raises ConfigError for credentials that are wrong; whatever may pass by itself is only said."""
    try:
        stream = _ask(transport)
    except BadCredentials as error:
        raise ConfigError(in_words(error)) from None
    except (LinkError, NotNow) as error:
        journal.warn_once("offline", f"{error} The agent goes on trying.", once="gap")
    except Refused as error:
        journal.warn_once("refused", str(error), once="gap")
    else:
        _say(stream, journal)


def _ask(transport: Transport) -> dict[str, Any]:
    try:
        return transport.request_json("GET", "/stream", repeat=Repeat.NEVER, timeout_s=LIMIT_S)
    except BadRequest:  # an older server can't say it, but knows who may ask
        transport.request_json("GET", "/services", repeat=Repeat.NEVER, timeout_s=LIMIT_S)
        return {}


def _say(stream: dict[str, Any], journal: Journal) -> None:
    state = stream.get("state", "ready")
    if state == "disabled":
        journal.warn_once("refused", f"{SWITCHED_OFF} {ASKS_AGAIN}", once="gap")
    elif state == "month_used_up":
        resets_at = (stream.get("month") or {}).get("resets_at")
        journal.warn_once("refused", f"{used_up(resets_at)} {ASKS_AGAIN}", once="gap")
    else:
        journal.info("connected", "The server knows this stream.")
