"""Structured logs: one JSON object per line, with named fields only."""

import logging
import sys
from datetime import UTC, datetime

import msgspec

_encoder = msgspec.json.Encoder(enc_hook=str)


class JsonLines(logging.Formatter):
    """Time, level, logger, event, and what `extra={"fields": ...}` carries."""

    def __init__(self, process: str) -> None:
        super().__init__()
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "logger": record.name,
            "event": record.getMessage(),
        }
        line |= getattr(record, "fields", {})
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return _encoder.encode(line).decode()


def write_logs(process: str, *, level: str) -> None:
    """Send every log line of this process to standard error as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines(process))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("nats").setLevel(logging.CRITICAL)  # we log ourselves when the bus is lost and found
    logging.getLogger("fido2").setLevel(logging.WARNING)  # it would log which passkeys people have
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    logging.getLogger("asyncio").addFilter(_says_something)


def _says_something(record: logging.LogRecord) -> bool:
    """The bus's client begins TLS on a plain connection, and asyncio warns of that whenever one ends."""
    return "returning true from eof_received()" not in record.getMessage()


def fields(**values: object) -> dict[str, dict[str, object]]:
    """What a log call passes as `extra`, so that a line carries named fields only."""
    return {"fields": values}
