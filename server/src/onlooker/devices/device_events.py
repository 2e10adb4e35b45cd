"""What webhooks are told of devices."""

from typing import Any

from onlooker.devices.models import Device
from onlooker.webhooks.events import about, emit


def tell(device: Device, event: str, **more: Any) -> None:
    """Call it in the transaction of what happened."""
    stream = device.stream
    said = {"device": str(device.device_id), "device_name": device.name, **about(stream), **more}
    emit(stream.organisation_id, event, said)
