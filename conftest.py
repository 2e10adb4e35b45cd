"""What a run of tests knows of them: how many examples Hypothesis makes, and which tests share a process."""

import pytest
from hypothesis import HealthCheck, settings

PRODUCTS = ("brief_stack", "watched_stack", "s3_stack", "stack", "product")
"""Fixtures that start a product. All tests of one run in one process, so that it is started once."""

# How long an example takes says more about the machine's other work than about the code.
settings.register_profile("all", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("all")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups for `--dist loadgroup`: the tests of one product, else those of one file."""
    for item in items:
        needed = getattr(item, "fixturenames", ())
        product = next((name for name in PRODUCTS if name in needed), None)
        item.add_marker(pytest.mark.xdist_group(product or item.path.stem))
