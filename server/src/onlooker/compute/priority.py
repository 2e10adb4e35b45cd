"""Computing comes second to what is on the bus: a worker that is late to answer would be taken for dead."""

import os
from contextlib import suppress
from pathlib import Path

SECOND = 5
LESS_URGENT = 15
"""Of a process for long calls: it has what the others leave of a core."""


def set_niceness(niceness: int, pid: int | None = None) -> None:
    """For all threads of a process, or of this one: on Linux each has a niceness of its own.

    A thread that is nicer already stays so, as where the product was started with `nice`: only root could take it back.
    """
    with suppress(FileNotFoundError):  # it has just ended
        for task in Path(f"/proc/{pid or 'self'}/task").iterdir():
            thread = int(task.name)
            with suppress(ProcessLookupError):
                os.setpriority(os.PRIO_PROCESS, thread, max(niceness, os.getpriority(os.PRIO_PROCESS, thread)))
