"""The streaming variant: a feed has one long input of frames and one long output of results."""

import uuid

import msgspec
from multipart import parse_options_header
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from onlooker.errors import Code, Problem, bad_request, not_found
from onlooker.gateway.bodies import CLOSE, read_body
from onlooker.gateway.context import GatewayContext, context_of, id_of, service_of, service_path, stream_of
from onlooker.gateway.feeds.input import FeedInput
from onlooker.gateway.feeds.output import OUTPUT_TYPE, FeedOutput, FeedRecord, feed_key
from onlooker.gateway.permits import permit_compute
from onlooker.gateway.requests import read_job_request, session_key
from onlooker.http.answers import json_answer
from onlooker.http.limits import require_uncompressed
from onlooker_pipeline.catalogue.service import Service


async def create_feed(request: Request) -> Response:
    context, stream, service = context_of(request), stream_of(request), service_of(request)
    permit_compute(context, stream)
    body = await read_body(request, context.settings)
    fields = body.fields | {field.name: "attachment://frame" for field in service.media_fields}
    requested = read_job_request(service, fields)
    session = session_key(stream, service, requested.session_id) if requested.session_id else None
    feed_id = uuid.uuid4()
    record = FeedRecord(service.name, service.version, session, requested.params)
    await context.feeds.put(feed_key(stream.id, feed_id), msgspec.msgpack.encode(record))
    members = _describe(context, service, feed_id, status=201)
    return json_answer(members, status=201, headers={"Location": str(members["url"])})


def _describe(context: GatewayContext, service: Service, feed_id: uuid.UUID, *, status: int) -> dict[str, str | int]:
    url = context.url(f"{service_path(service)}/streams/{feed_id}")
    return {
        "url": url,
        "uuid": str(feed_id),
        "status": status,
        "input": f"{url}/input",
        "output": f"{url}/output",
    }


async def show_feed(request: Request) -> Response:
    await _find(request)
    return json_answer(_describe(context_of(request), service_of(request), id_of(request, "stream"), status=200))


async def take_input(request: Request) -> Response:
    """One long POST of frames; answered when it ends, with how many there were."""
    record = await _find(request)
    context, stream, service = context_of(request), stream_of(request), service_of(request)
    permit_compute(context, stream)
    require_uncompressed(",".join(request.headers.getlist("content-encoding")))
    media_type, options = parse_options_header(request.headers.get("content-type", ""))
    if media_type != "multipart/x-mixed-replace":
        raise Problem(Code.UNSUPPORTED_MEDIA_TYPE, "Send multipart/x-mixed-replace with a boundary.", headers=CLOSE)
    if not options.get("boundary"):
        raise bad_request("The Content-Type names no boundary.")
    feed = FeedInput(context, stream, service, record, feed_id=id_of(request, "stream"))
    return json_answer(await feed.take(request, options["boundary"]) | {"status": 200})


async def give_output(request: Request) -> Response:
    """One long GET of results."""
    await _find(request)
    output = FeedOutput(context_of(request), id_of(request, "stream"))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no", "Content-Type": OUTPUT_TYPE}
    return StreamingResponse(output.parts(), headers=headers)


async def _find(request: Request) -> FeedRecord:
    feed_id, service = id_of(request, "stream"), service_of(request)
    entry = await context_of(request).feeds.get(feed_key(stream_of(request).id, feed_id))
    if entry is None or not entry.value:
        raise not_found("stream")
    record = msgspec.msgpack.decode(entry.value, type=FeedRecord)
    if (record.service, record.version) != (service.name, service.version):
        raise not_found("stream")
    return record
