"""Making the task that goes to a worker."""

import time
import uuid
from typing import Any

from onlooker.bus.messages import Task
from onlooker.catalogue.service import Service


def new_task(
    service: Service,
    params: dict[str, Any],
    attachments: dict[str, bytes],
    *,
    job_id: uuid.UUID,
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
    )
