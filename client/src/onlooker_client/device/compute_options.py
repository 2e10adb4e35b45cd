"""How this device computes: what is read of faces, where the camera hangs, and how the computing process is held."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

MEMORY_BYTES = 1024**3
"""That the computing process may take after its start; it takes a tenth of it."""
DEVICE, SERVER = "device", "server"
"""Where frames are computed, as options and servers say it."""
IDLE_S = 60.0
"""Without a frame for so long, open visits are closed: as the server ends its sessions."""


@dataclass(frozen=True)
class ComputeOptions:
    """Of one computing process; they don't change while it runs."""

    reads_age: bool = True
    reads_gender: bool = True
    reads_expression: bool = False
    reads_faces: bool = True
    """Without it no net that reads faces is even loaded."""
    camera_position: str = "facing"
    is_confined: bool = True
    """Without files, network and programs; where this machine can't, the process does not start."""
    threads: int = 1
    """Of each net."""
    provider: str = "cpu"
    idle_s: float = IDLE_S
    memory_bytes: int = MEMORY_BYTES

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of(cls, said: dict[str, Any]) -> ComputeOptions:
        """Of what `as_dict` said."""
        return cls(**{one.name: said[one.name] for one in fields(cls)})
