"""Readers of a long table who go away at its beginning."""

import http.client
import random
from datetime import datetime, timedelta

from onlooker.proof.questions.parameters import ENTITIES_CSV, question, target
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import RIGHT, DataRequest
from onlooker.proof.questions.wire import CLOSED, HUNG, DataReply, ServerAddress, head, send

YEARS_DAYS = 3650


def hang_up(source: random.Random, reader: QuestionSender) -> None:
    """Ask for a long table, an hour a row for ten years, read some of it, and leave."""
    right = question(reader, time="by_hour")
    begins = datetime.fromisoformat(right["from_date"]) - timedelta(days=YEARS_DAYS)
    asked = target(right | {"from_date": begins.isoformat()}, ENTITIES_CSV)
    taken_bytes = source.choice([1, 5_000, 100_000])
    token = reader.tokens[source.randrange(2)]
    message = head("GET", asked, [("Authorization", f"Bearer {token}")])
    reply = _begin(reader.address, message, taken_bytes=taken_bytes)
    reader.tally.judge(DataRequest("hung up", f"GET {asked}", RIGHT), reply)


def _begin(address: ServerAddress, message: bytes, *, taken_bytes: int) -> DataReply:
    """The head of an answer and the beginning of its body."""
    try:
        with address.connected() as connection:
            send(connection, message)
            response = http.client.HTTPResponse(connection)
            response.begin()
            return DataReply(response.status, response.read(taken_bytes), response.getheader("Content-Type") or "")
    except TimeoutError:
        return DataReply(HUNG)
    except (OSError, http.client.HTTPException):
        return DataReply(CLOSED)
