"""What the server says of its stream when the agent starts, and what of that reaches the log."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from onlooker_client.agent.sending.backoff import ASKS_AGAIN, SWITCHED_OFF, explain_refusal, used_up
from onlooker_client.agent.status.log import AgentLog
from onlooker_client.errors import BadCredentials, BadRequest, ConfigError, LinkError, NotNow, Refused
from onlooker_client.wire.transport import Repeat, Transport

LIMIT_S = 5.0


@dataclass(frozen=True)
class StreamAnswer:
    """What `GET /stream` said, or why it said nothing."""

    said: dict[str, Any] = field(default_factory=dict)
    """Empty where an older server can't say it."""
    error: LinkError | Refused | None = None


def ask_stream(transport: Transport) -> StreamAnswer:
    try:
        return StreamAnswer(_ask(transport))
    except (LinkError, Refused) as error:
        return StreamAnswer(error=error)


def report_stream(answer: StreamAnswer, agent_log: AgentLog, *, is_known: bool = False) -> None:
    """Raises ConfigError for credentials that are wrong; whatever may pass by itself is only said.

    A device whose stream is known from before goes on all the same: somebody may set the right Password later.
    """
    error = answer.error
    if isinstance(error, BadCredentials) and not is_known:
        raise ConfigError(explain_refusal(error)) from None
    if isinstance(error, BadCredentials):
        agent_log.warn_once("refused", f"{explain_refusal(error)} {ASKS_AGAIN}", once="gap")
    elif isinstance(error, (LinkError, NotNow)):
        agent_log.warn_once("offline", f"{error} The agent keeps trying.", once="gap")
    elif error is not None:
        agent_log.warn_once("refused", str(error), once="gap")
    else:
        _say(answer.said, agent_log)


def report_closing(agent_log: AgentLog, *, is_closed: bool, opens_at: float | None) -> None:
    """One line when the stream closes, and one when it opens."""
    if not is_closed:
        agent_log.info("open", "The stream is open: frames are computed.")
        return
    until = "" if opens_at is None else f" until {datetime.fromtimestamp(opens_at).astimezone():%A %H:%M}"
    agent_log.info("closed", f"The stream is closed{until}: no frame is sent or computed.")


def _ask(transport: Transport) -> dict[str, Any]:
    try:
        return transport.request_json("GET", "/stream", repeat=Repeat.NEVER, timeout_s=LIMIT_S)
    except BadRequest:  # an older server can't say it, but knows who may ask
        transport.request_json("GET", "/services", repeat=Repeat.NEVER, timeout_s=LIMIT_S)
        return {}


def _say(stream: dict[str, Any], agent_log: AgentLog) -> None:
    state = stream.get("state", "ready")
    if state == "disabled":
        agent_log.warn_once("refused", f"{SWITCHED_OFF} {ASKS_AGAIN}", once="gap")
    elif state == "month_used_up":
        resets_at = (stream.get("month") or {}).get("resets_at")
        agent_log.warn_once("refused", f"{used_up(resets_at)} {ASKS_AGAIN}", once="gap")
    else:
        agent_log.info("connected", "The server accepts this stream.")
