"""Tasks: what goes to a worker."""

import time
import uuid
from typing import Any

from onlooker.bus.messages import Task
from onlooker.streams.credentials import StreamRecord
from onlooker_pipeline.catalogue.service import Service
from onlooker_pipeline.service_call import Sender


def new_task(
    service: Service,
    params: dict[str, Any],
    attachments: dict[str, bytes],
    *,
    job_id: uuid.UUID,
    sender: Sender,
    arrived_at: float,
    session: str | None,
    request_id: str,
    time_limit_s: float,
) -> Task:
    now = time.time()
    return Task(
        id=job_id.hex,
        service=service.name,
        version=service.version,
        params=params,
        attachments=attachments,
        session=session,
        deadline=now + time_limit_s,
        request_id=request_id,
        sent_at=now,
        arrived_at=arrived_at,
        sender=sender,
    )


def sender_of(stream: StreamRecord) -> Sender:
    """The part of a stream's record that its tasks carry."""
    return Sender(
        stream_id=stream.id,
        reads_age=stream.reads_age,
        reads_gender=stream.reads_gender,
        reads_expression=stream.reads_expression,
        retention_days=stream.retention_days,
        time_zone=stream.time_zone,
        reads_faces=stream.reads_faces,
    )
