"""A problem as the answer to a request that no route has seen; the connection is closed after it."""

from starlette.types import Send

from onlooker.errors import Problem


async def refuse(problem: Problem, send: Send) -> None:
    """Answer with a problem, and close the connection."""
    body = problem.body()
    headers = {
        "content-type": "application/problem+json",
        "content-length": str(len(body)),
        "connection": "close",
    }
    pairs = [(name.lower().encode(), value.encode()) for name, value in (headers | problem.headers).items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
