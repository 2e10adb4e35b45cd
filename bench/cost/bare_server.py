"""The least that could answer such a job: a Starlette handler that parses the multipart body and computes in place."""

import asyncio
import sys

import msgspec
import uvicorn
from multipart import MultipartSegment, PushMultipartParser, parse_options_header
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.cost.cpu_burner import burn


async def compute_in_place(request: Request) -> Response:
    _, options = parse_options_header(request.headers["content-type"])
    parts: dict[str, list[bytes]] = {}
    name = ""
    with PushMultipartParser(options["boundary"]) as parser:
        async for chunk in request.stream():
            for event in parser.parse(chunk) if chunk else ():
                if isinstance(event, MultipartSegment):
                    name = event.name or ""
                    parts[name] = []
                elif event:
                    parts[name].append(event)
    meta = msgspec.json.decode(b"".join(parts["meta"]))
    burn(meta.get("burn_ms", 0))
    size = len(b"".join(parts[meta["image"]]))
    return Response(msgspec.json.encode({"size": size}), status_code=201, media_type="application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/jobs", compute_in_place, methods=["POST"])])
    config = uvicorn.Config(
        app, host="127.0.0.1", port=int(sys.argv[1]), log_config=None, access_log=False, loop="uvloop"
    )
    asyncio.Runner(loop_factory=config.get_loop_factory()).run(uvicorn.Server(config).serve())
