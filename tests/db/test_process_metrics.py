"""What each process reports of itself: readiness, connections to the database, certificates."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from starlette.testclient import TestClient

from onlooker import counters
from onlooker.database import open_pool
from onlooker.monitoring import monitoring_app, watch_certificate
from onlooker.settings import Settings
from onlooker.up.certificates import SERVER_DAYS, ensure_certificate


def value(name: str, **labels: str) -> float | None:
    return REGISTRY.get_sample_value(name, labels)


def test_readiness_is_a_number_and_so_is_each_check() -> None:
    checks = {"migrations": False}
    client = TestClient(monitoring_app(lambda: checks))
    assert client.get("/metrics").status_code == 200
    assert (value("onlooker_ready"), value("onlooker_ready_check", check="migrations")) == (0, 0)
    checks = {"bus": True, "database": True}
    client.get("/metrics")
    assert (value("onlooker_ready"), value("onlooker_ready_check", check="bus")) == (1, 1)
    assert value("onlooker_ready_check", check="migrations") is None


def test_connections_in_use_and_those_who_wait_for_one_are_counted(database_url: str) -> None:
    """Beside pools that other tests have not closed yet."""

    def seen() -> tuple[float, ...]:
        states = [value("onlooker_database_connections", state=state) for state in ("in_use", "idle")]
        return tuple(one or 0 for one in (*states, value("onlooker_database_waiting")))

    async def hold(settings: Settings) -> None:
        before, limit = seen(), value("onlooker_database_connections_limit") or 0
        async with open_pool(settings, size=2) as pool:
            await pool.wait()
            assert value("onlooker_database_connections_limit") == limit + 2
            async with pool.connection(), pool.connection():
                waiting = asyncio.create_task(pool.getconn())
                await asyncio.sleep(0.1)
                assert seen() == (before[0] + 2, before[1], before[2] + 1)
            await pool.putconn(await waiting)
            assert seen() == (before[0], before[1] + 2, before[2])

    asyncio.run(hold(Settings(database_url=database_url)))


def test_days_until_a_certificate_expires_go_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chain, _ = ensure_certificate(tmp_path, ["localhost"])
    watch_certificate("tls_certificate_file", str(chain))
    assert value("onlooker_certificate_days", setting="tls_certificate_file") == pytest.approx(SERVER_DAYS, abs=0.1)
    later = (datetime.now(UTC) + timedelta(days=SERVER_DAYS + 2)).timestamp()
    monkeypatch.setattr("onlooker.monitoring.time.time", lambda: later)
    assert value("onlooker_certificate_days", setting="tls_certificate_file") == pytest.approx(-2, abs=0.1)


def test_a_file_that_is_no_certificate_is_left_to_what_loads_it(tmp_path: Path) -> None:
    (tmp_path / "none.pem").write_text("nothing")
    counters.certificate_days.clear()
    for path in (tmp_path / "none.pem", tmp_path / "missing.pem"):
        watch_certificate("tls_certificate_file", str(path))
    assert value("onlooker_certificate_days", setting="tls_certificate_file") is None
