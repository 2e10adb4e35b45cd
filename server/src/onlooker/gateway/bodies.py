"""Reading request bodies: JSON, or multipart with `meta` and attachments, within limits."""

import asyncio
import zlib
from codecs import BOM_UTF8
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from multipart import (
    MultipartError,
    MultipartSegment,
    ParserLimitReached,
    PushMultipartParser,
    parse_options_header,
)
from starlette.requests import Request

from onlooker.errors import Code, Problem, bad_request
from onlooker.gateway.context import context_of, held_bytes_of, stream_of
from onlooker.http.limits import require_uncompressed
from onlooker.settings import Settings

PARTS_LIMIT = 32
META_LIMIT_BYTES = 1024**2
VALUES_LIMIT = 20_000
"""In one JSON object: more would keep all other requests waiting while it is read."""
DEPTH_LIMIT = 64
TOO_DEEP = f"The JSON is nested too deep. Keep to {DEPTH_LIMIT} levels."
INTEGERS = range(-(2**63), 2**64)
ATTACHMENT_PREFIX = "attachment://"
CLOSE = {"Connection": "close"}
DEFLATE = "deflate"


@dataclass(frozen=True)
class Body:
    """The fields of a request and the bytes that came with it, by reference."""

    fields: dict[str, Any]
    attachments: dict[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class InflatedLimits:
    """Of a body that may be deflated."""

    sent_bytes: int
    inflated_bytes: int
    held_bytes: int
    """What it takes of the gateway's memory at most, once it is read."""


async def read_body(request: Request, settings: Settings) -> Body:
    """A job's or a feed's body, JSON or multipart."""
    require_uncompressed(",".join(request.headers.getlist("content-encoding")))
    media_type, options = parse_options_header(request.headers.get("content-type", ""))
    if media_type not in ("application/json", "multipart/form-data"):
        raise Problem(
            Code.UNSUPPORTED_MEDIA_TYPE,
            "Send application/json, or multipart/form-data with a part named `meta`.",
            headers=CLOSE,
        )
    is_json = media_type == "application/json"
    limit_bytes = settings.body_limit_bytes
    chunks = _arriving(request, min(limit_bytes, META_LIMIT_BYTES) if is_json else limit_bytes)
    async with _time_limit(settings):
        if is_json:
            return Body(parse_object(b"".join([chunk async for chunk in chunks])))
        return await _read_multipart(chunks, options.get("boundary", ""))


async def read_json_object(request: Request, settings: Settings, *, limit_bytes: int) -> dict[str, Any]:
    """A small body that is JSON and nothing else."""
    require_uncompressed(",".join(request.headers.getlist("content-encoding")))
    media_type, _ = parse_options_header(request.headers.get("content-type", ""))
    if media_type != "application/json":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send application/json.", headers=CLOSE)
    async with _time_limit(settings):
        return parse_object(b"".join([chunk async for chunk in _arriving(request, limit_bytes)]))


@asynccontextmanager
async def _time_limit(settings: Settings) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(settings.body_time_limit_s):
            yield
    except TimeoutError:
        detail = f"The body did not arrive within {settings.body_time_limit_s:g} seconds."
        raise Problem(Code.REQUEST_TIMEOUT, detail, headers=CLOSE) from None


async def _arriving(request: Request, limit_bytes: int) -> AsyncIterator[bytes]:
    """The chunks of a body that is not too large."""
    held_bytes, allowance, stream_id = held_bytes_of(request), context_of(request).read_bytes, stream_of(request).id
    announced = request.headers.get("content-length", "0")
    received = int(announced) if announced.isdecimal() and len(announced) < 20 else 0
    if received <= limit_bytes:
        received = 0
        async for chunk in request.stream():
            received += len(chunk)
            if received > limit_bytes:
                break
            held_bytes.hold(received)
            if chunk:
                allowance.charge(stream_id, len(chunk))
                if owing_s := allowance.owing_s(stream_id):
                    await asyncio.sleep(owing_s)  # meanwhile no more is read
                yield chunk
    if received > limit_bytes:
        raise Problem(Code.TOO_LARGE, f"This request may have {limit_bytes} bytes. Send a smaller one.", headers=CLOSE)


async def read_inflated(request: Request, settings: Settings, *, limits: InflatedLimits) -> bytes:
    """A body that may be deflated, bounded before and after: the one kind that is small on its way and large here."""
    encoding = ",".join(request.headers.getlist("content-encoding")).strip().lower()
    if encoding != DEFLATE:
        require_uncompressed(encoding)
    media_type, _ = parse_options_header(request.headers.get("content-type", ""))
    if media_type != "application/json":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send application/json, deflated or not.", headers=CLOSE)
    async with _time_limit(settings):
        sent = b"".join([chunk async for chunk in _arriving(request, limits.sent_bytes)])
    held_bytes_of(request).hold(len(sent) + limits.held_bytes)
    return inflate(sent, limits.inflated_bytes) if encoding == DEFLATE else sent


def inflate(sent: bytes, limit_bytes: int) -> bytes:
    """What was deflated (RFC 1950); never more than the limit is inflated of it."""
    inflation = zlib.decompressobj()
    try:
        data = inflation.decompress(sent, limit_bytes + 1)
    except zlib.error:
        raise bad_request("The body is not deflated as `Content-Encoding: deflate` says (zlib, RFC 1950).") from None
    if len(data) > limit_bytes:
        detail = f"Inflated, this request may have {limit_bytes} bytes. Send a smaller one."
        raise Problem(Code.TOO_LARGE, detail, headers=CLOSE)
    if not inflation.eof or inflation.unused_data:
        raise bad_request("The deflated body is cut off, or something follows it.")
    return data


async def _read_multipart(chunks: AsyncIterator[bytes], boundary: str) -> Body:
    fields: dict[str, Any] | None = None
    attachments: dict[str, bytes] = {}
    try:
        async for name, data in _segments(chunks, boundary):
            if name == "meta" and fields is None:
                fields = parse_object(data)
            elif name.startswith(ATTACHMENT_PREFIX) and name not in attachments:
                attachments[name] = data
            else:
                raise bad_request(
                    f"Part {name[:80]!r} is unknown or there twice. Name the JSON part `meta` "
                    f"and each binary part `{ATTACHMENT_PREFIX}<name>`."
                )
    except ParserLimitReached as error:
        raise bad_request(f"The multipart body is over a limit: {error}. Send at most {PARTS_LIMIT} parts.") from None
    except MultipartError as error:
        raise bad_request(f"The multipart body is malformed: {error}.") from None
    if fields is None:
        raise bad_request("The multipart body has no part named `meta`.")
    return Body(fields, attachments)


async def _segments(chunks: AsyncIterator[bytes], boundary: str) -> AsyncIterator[tuple[str, bytes]]:
    """Name and bytes of each part."""
    name, pieces, size = "", list[bytes](), 0
    with PushMultipartParser(boundary, max_segment_count=PARTS_LIMIT) as parser:
        async for chunk in chunks:
            for event in parser.parse(chunk):
                if isinstance(event, MultipartSegment):
                    name, pieces, size = event.name or "", [], 0
                elif event:
                    size += len(event)
                    if name == "meta" and size > META_LIMIT_BYTES:
                        detail = f"`meta` may have {META_LIMIT_BYTES} bytes. Send binary data as an attachment."
                        raise Problem(Code.TOO_LARGE, detail, headers=CLOSE)
                    pieces.append(event)
                else:
                    yield name, pieces[0] if len(pieces) == 1 else b"".join(pieces)


def parse_object(data: bytes) -> dict[str, Any]:
    """A JSON object, or a bad request that says what is wrong with it; some editors put a byte order mark before it."""
    data = data.removeprefix(BOM_UTF8)
    if not data.strip():
        raise bad_request("There is no JSON: the body, or its part `meta`, is empty.")
    if data.count(b",") + data.count(b"[") + data.count(b"{") > VALUES_LIMIT:
        raise bad_request(f"The JSON has more than {VALUES_LIMIT} values. Send binary data as an attachment.")
    try:
        value = msgspec.json.decode(data)
    except RecursionError:
        raise bad_request(TOO_DEEP) from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        reason = str(error).removeprefix("JSON is malformed: ")
        raise bad_request(f"The JSON is malformed: {reason}.") from None
    if not isinstance(value, dict):
        raise bad_request("The JSON must be an object.")
    _require_plain(value, levels=DEPTH_LIMIT)
    return value


def _require_plain(value: Any, *, levels: int) -> None:
    """What the bus can carry: integers of 64 bits, and only so many levels."""
    if isinstance(value, dict | list):
        if not levels:
            raise bad_request(TOO_DEEP)
        for child in value.values() if isinstance(value, dict) else value:
            _require_plain(child, levels=levels - 1)
    elif isinstance(value, int) and value not in INTEGERS:
        raise bad_request("The JSON has an integer that does not fit in 64 bits.")
