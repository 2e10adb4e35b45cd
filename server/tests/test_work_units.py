"""Tests that share a product are one unit; a test with a product of its own, or with none, is in its file's."""

import threading
import time
from pathlib import Path

import pytest

from testkit import work_units
from testkit.machine_lock import MachineLock
from testkit.work_units import LONGEST, PRODUCTS, ROOT, SHARED_FIXTURES, turn_of, unit_of

UP = "server/tests/journey/test_up.py"
OWN = "server/tests/bus/test_session_bytes.py"


@pytest.mark.parametrize(
    ("nodeid", "unit"),
    [
        (f"{UP}::test_it_says_where_everything_is", "server stack"),
        (f"{UP}::test_a_wrong_setting_is_refused_with_the_remedy[https_prot-message]", "server stack"),
        (f"{UP}::test_stopping_is_clean_and_leaves_nothing", UP),
        (f"{OWN}::test_records_leave_in_time_while_other_sessions_go_on", OWN),
        ("server/tests/streams/test_states.py::test_the_command_line_logs_what_really_changes", "server watched_stack"),
        (
            "client/tests/test_doctor_command.py::test_what_is_to_be_fixed_is_in_the_exit_code",
            "client/tests/test_doctor_command.py",
        ),
        (
            "client/tests/test_doctor_command.py::test_where_all_is_well_it_says_so_line_by_line",
            "client product, alone",
        ),
        ("client/tests/test_bulk_command.py::test_a_name", "client/tests/test_bulk_command.py"),
        ("pipeline/tests/visits/test_fold.py::test_a_name", "pipeline/tests/visits/test_fold.py"),
    ],
)
def test_a_test_is_in_the_unit_of_the_product_that_it_needs(nodeid: str, unit: str) -> None:
    assert unit_of(nodeid) == unit


SOURCE = """
import pytest

@pytest.fixture
def stack(): ...

@pytest.fixture
def camera(stream): ...

@pytest.fixture
def picture(camera): ...

def test_own(stack): ...

def test_by_way_of_others(picture): ...

@pytest.mark.usefixtures("camera")
def test_marked(): ...

@pytest.mark.alone
def test_alone(): ...

def send(stream): ...

def test_none(tmp_path): ...
"""


def test_fixtures_of_the_file_are_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work_units, "ROOT", tmp_path)
    (tmp_path / "server").mkdir()
    (tmp_path / "server/test_any.py").write_text(SOURCE)
    tests = ("test_own", "test_by_way_of_others", "test_marked", "test_none", "test_alone")
    own, shared = "server/test_any.py", "server stack"
    assert [unit_of(f"{own}::{test}") for test in tests] == [own, shared, shared, own, f"{own}, alone"]


def test_long_units_are_there_and_come_first() -> None:
    products = {f"{package} {product}" for package, known in PRODUCTS.items() for product in known.values()}
    assert [unit for unit in LONGEST if unit not in products and not (ROOT / unit).is_file()] == []
    assert [turn_of(unit) for unit in LONGEST] == list(range(len(LONGEST)))
    assert turn_of("another") == len(LONGEST) < turn_of("another, alone")


def test_every_shared_product_ends_with_its_unit() -> None:
    assert {product for known in PRODUCTS.values() for product in known.values()} <= set(SHARED_FIXTURES)


def test_who_is_alone_waits_for_others_and_keeps_them_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    first, second, events = MachineLock("run"), MachineLock("run"), list[str]()

    def other() -> None:
        second.be_alone()
        events.append("alone")
        time.sleep(0.2)
        events.append("shares")
        second.share()

    first.share()
    waiting = threading.Thread(target=other)
    waiting.start()
    time.sleep(0.2)
    events.append("leaves")
    first.leave()
    time.sleep(0.05)
    first.share()
    events.append("is back")
    waiting.join()
    first.close()
    second.close()
    assert events == ["leaves", "alone", "shares", "is back"]
