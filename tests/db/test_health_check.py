"""What a container's health check says of the process beside it."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping

import pytest

from onlooker.monitoring import serve_monitoring
from onlooker.settings import read_settings
from testkit import free_ports


async def check_health(environment: Mapping[str, str]) -> tuple[int | None, str]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "onlooker.health_check", env=environment, stdout=subprocess.PIPE
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()


async def check_beside(checks: dict[str, bool], *, listens_on: str) -> tuple[int | None, str]:
    (port,) = free_ports(1)
    environment = {"ONLOOKER_MONITORING_PORT": str(port), "ONLOOKER_MONITORING_HOST": listens_on}
    serving = asyncio.create_task(serve_monitoring(read_settings(environment), lambda: checks))
    try:
        return await check_health(environment)
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


@pytest.mark.parametrize("listens_on", ["127.0.0.1", "0.0.0.0", "::1"])
def test_ready_process_is_healthy(listens_on: str) -> None:
    code, said = asyncio.run(check_beside({"bus": True, "database": True}, listens_on=listens_on))
    assert code == 0
    assert '"ready":true' in said


def test_unready_process_is_not_and_the_check_that_failed_is_named() -> None:
    code, said = asyncio.run(check_beside({"bus": False, "database": True}, listens_on="127.0.0.1"))
    assert code == 1
    assert '"bus":false' in said


def test_process_that_does_not_listen_is_not_healthy() -> None:
    (port,) = free_ports(1)
    code, said = asyncio.run(check_health({"ONLOOKER_MONITORING_PORT": str(port)}))
    assert code == 1
    assert f"127.0.0.1:{port} does not answer" in said


def test_wrong_setting_is_named() -> None:
    code, said = asyncio.run(check_health({"ONLOOKER_MONITORING_PORT": "none"}))
    assert code == 1
    assert "ONLOOKER_MONITORING_PORT" in said
