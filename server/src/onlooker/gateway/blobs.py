"""Blobs: bytes that an owner stores once and uses with any service, for a while."""

import uuid

from starlette.requests import Request
from starlette.responses import Response

from onlooker.database import load_queries
from onlooker.errors import Code, Problem, bad_request, not_found
from onlooker.gateway.blobstore import blob_path
from onlooker.gateway.bodies import read_body
from onlooker.gateway.context import GatewayContext, context_of, id_of, stream_of
from onlooker.gateway.permits import permit_stream
from onlooker.http.answers import json_answer
from onlooker.streams.credentials import StreamRecord

_queries = load_queries("onlooker.gateway")


async def create_blob(request: Request) -> Response:
    context, stream = context_of(request), stream_of(request)
    permit_stream(stream)
    body = await read_body(request, context.settings)
    reference = body.fields.get("content")
    if not isinstance(reference, str) or reference not in body.attachments:
        raise bad_request("`content` must be `attachment://<name>` of a part of this request.")
    data = body.attachments[reference]
    blob_id = uuid.uuid4()
    values = {
        "blob_id": blob_id,
        "stream_id": stream.id,
        "size_bytes": len(data),
        "retention_s": context.settings.blob_retention_s,
        "bytes_limit": context.settings.blob_bytes_per_stream,
    }
    # The row comes first: bytes without a row would never be removed.
    async with context.pool.connection() as connection:
        row = await (await connection.execute(_queries["add_blob"], values)).fetchone()
    if row is None:
        raise Problem(Code.TOO_LARGE, "This stream keeps as many bytes as it may. Delete blobs or let them expire.")
    await context.blobs.put(blob_path(blob_id), data)
    url = context.url(f"/blobs/{blob_id}")
    members = {
        "status": 201,
        "url": url,
        "uuid": str(blob_id),
        "expires_at": row["expires_at"].isoformat(timespec="seconds"),
    }
    return json_answer(members, status=201, headers={"Location": url})


async def show_blob(request: Request) -> Response:
    data = await find_blob(context_of(request), stream_of(request), id_of(request, "blob"))
    if data is None:
        raise not_found("blob")
    headers = {"Content-Disposition": "attachment", "X-Content-Type-Options": "nosniff"}
    return Response(data, headers=headers, media_type="application/octet-stream")


async def delete_blob(request: Request) -> Response:
    context, blob_id = context_of(request), id_of(request, "blob")
    values = {"blob_id": blob_id, "stream_id": stream_of(request).id}
    async with context.pool.connection() as connection:
        row = await (await connection.execute(_queries["find_blob"], values)).fetchone()
        if row is None:
            raise not_found("blob")
        await context.blobs.remove([blob_path(blob_id)])
        await connection.execute(_queries["remove_blob"], values)
    return Response(status_code=204)


async def find_blob(context: GatewayContext, stream: StreamRecord, blob_id: uuid.UUID) -> bytes | None:
    """The bytes of a blob, for its owner only."""
    values = {"blob_id": blob_id, "stream_id": stream.id}
    async with context.pool.connection() as connection:
        row = await (await connection.execute(_queries["find_blob"], values)).fetchone()
    return await context.blobs.get(blob_path(blob_id)) if row else None
