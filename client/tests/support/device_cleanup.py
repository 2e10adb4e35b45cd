"""A plugin of pytest: every simulated device that a test made lets go of its journal."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def closed_devices() -> Iterator[None]:
    from simulated_device import MADE

    yield
    while MADE:
        MADE.pop().stop()
