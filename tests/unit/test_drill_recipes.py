"""The declared drills, and the verdict about a run of them: with commands of the shell, none of the real ones."""

import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench.drills.execution import DrillVerdict, failed_tests, figure_of, judge
from bench.drills.place import Lack, find_lack
from bench.drills.recipes import NIGHTLY, SHORT, DeclarationError, DrillForm, choose, read_drills, read_recipes
from bench.drills.sabotage import read_sabotages
from bench.drills.schedule import Schedule
from bench.drills.table import summarise, write_logs, write_table

ROOT = Path(__file__).parents[2]
needs_just = pytest.mark.skipif(not shutil.which("just"), reason="just is not on the PATH")


@pytest.fixture(scope="module")
def declared() -> list[DrillForm]:
    return read_drills(read_recipes())


def drill(name: str, script: str, **how: object) -> DrillForm:
    return DrillForm(**({"recipe": name, "arguments": script, "group": SHORT, "limit_s": 5.0, "name": name} | how))  # type: ignore[arg-type]


def schedule_in(folder: Path, *, lack: Lack | None = None, side_by_side: int = 3) -> Schedule:
    return Schedule(
        side_by_side=side_by_side,
        logs=folder,
        command_of=lambda one: ["sh", "-c", one.arguments, "sh"],
        lack_of=lambda _: lack,
        grace_s=0.1,
    )


def run(folder: Path, *drills: DrillForm, lack: Lack | None = None) -> dict[str, DrillVerdict]:
    schedule = schedule_in(folder, lack=lack)
    schedule.run(drills)
    assert schedule.verdicts.keys() == {one.name for one in drills}
    return schedule.verdicts


def is_ok(verdicts: dict[str, DrillVerdict]) -> bool:
    return bool(summarise([*verdicts.values()], seconds=1)["ok"])


def recipe(*attributes: object) -> dict[str, object]:
    return {"try": {"name": "try", "attributes": list(attributes)}}


@needs_just
def test_every_drill_has_a_name_of_its_own_and_a_limit(declared: Sequence[DrillForm]) -> None:
    names = [one.name for one in declared]
    assert len(names) == len(set(names)) > 60
    assert all(one.limit_s > 0 for one in declared)
    assert {one.log_name for one in declared} >= {"prove.log", "prove-broken-telemetry.log"}
    assert {one.after for one in declared} - {""} <= {one.recipe for one in declared}


@needs_just
def test_at_night_a_full_form_takes_the_place_of_the_short_ones(declared: Sequence[DrillForm]) -> None:
    short = {one.recipe: one for one in declared}
    full = {one.recipe: one for one in read_drills(read_recipes(), nightly=True)}
    assert (short["check-metrics"].arguments, full["check-metrics"].arguments) == ("150", "")
    assert full["check-metrics"].limit_s > short["check-metrics"].limit_s
    assert full["restore-drill"] == short["restore-drill"]


@needs_just
def test_a_name_chooses_all_forms_or_one(declared: Sequence[DrillForm]) -> None:
    assert len(choose(declared, ["prove-broken"])) == 2
    assert [one.arguments for one in choose(declared, ["prove-broken telemetry"])] == ["telemetry"]
    with pytest.raises(DeclarationError, match="No drill is called prov"):
        choose(declared, ["prov"])


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ([{"group": "drills"}], "needs one group and a limit"),
        ([{"group": "drills"}, {"group": "nightly"}, {"metadata": ["limit", "1"]}], "needs one group and a limit"),
        ([{"group": "drill"}, {"metadata": ["limit", "1"]}], "attributes drill, which nobody knows"),
        ([{"group": "drills"}, {"metadata": ["limits", "1"]}], "attributes limits, which nobody knows"),
        ([{"group": "drills"}, {"metadata": ["limit", "1"]}, {"metadata": ["shared", "films"]}], "there is `testdata`"),
    ],
)
def test_a_declaration_that_says_too_little_is_refused(attributes: list[object], words: str) -> None:
    with pytest.raises(DeclarationError, match=words):
        read_drills(recipe(*attributes))


def test_a_recipe_without_a_group_is_no_drill() -> None:
    assert read_drills(recipe("private")) == []


@pytest.mark.parametrize(
    ("code", "last_line", "ok"),
    [
        (0, '{"ok": true, "requests": 3}', True),
        (0, "all is well", True),
        (0, "", True),
        (0, '{"requests": 3}', True),
        (0, '{"ok": false}', False),
        (0, '{"ok": null}', False),
        (1, '{"ok": true}', False),
        (-9, "", False),
        (None, '{"ok": true}', False),
    ],
)
def test_a_verdict_is_an_exit_code_and_a_last_line(code: int | None, last_line: str, ok: bool) -> None:
    assert judge(code, last_line)[0] is ok


def test_a_figure_says_what_was_found_and_what_went_wrong_first() -> None:
    assert figure_of('{"ok": false, "seed": 7, "lost": 2, "lost_target": 0, "reason": "late"}') == "reason late, lost 2"
    assert figure_of("3 passed") == "3 passed"
    assert len(figure_of("x" * 1000)) < 100


def test_output_goes_to_a_log_and_the_last_line_decides(tmp_path: Path) -> None:
    verdicts = run(tmp_path, drill("good", """echo begun; echo '{"ok": true, "found": 4}'; echo warning >&2"""))
    assert is_ok(verdicts)
    assert verdicts["good"].figure == "found 4"
    assert {"begun", "warning"} < set((tmp_path / "good.log").read_text().splitlines())


def test_one_that_fails_fails_the_run_and_its_log_is_told(tmp_path: Path) -> None:
    verdicts = run(tmp_path, drill("bad", "echo broken; exit 3"), drill("good", "true"))
    assert summarise([*verdicts.values()], seconds=1)["failed"] == ["bad"]
    assert "exit code 3" in verdicts["bad"].words
    assert "broken" in write_logs([*verdicts.values()])
    assert "FAILED: exit code 3" in "\n".join(write_table([*verdicts.values()]))


def test_one_that_fails_beside_others_only_is_ok_by_itself(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    shy = drill("shy", f"test -e {flag} || {{ touch {flag}; sleep 0.2; false; }}")
    verdicts = run(tmp_path, shy, drill("other", "sleep 0.2"))
    assert (verdicts["shy"].words, is_ok(verdicts)) == ("ok, by itself", True)
    assert summarise([*verdicts.values()], seconds=1)["by_itself"] == ["shy"]


def test_one_that_fails_without_company_gets_no_second_try(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    script = f"test -e {flag} || {{ touch {flag}; false; }}"
    assert not is_ok(run(tmp_path, drill("shy", script)))
    flag.unlink()
    assert not is_ok(run(tmp_path, drill("shy", script, alone="judges time"), drill("other", "true")))


def test_one_that_takes_too_long_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    left = tmp_path / "left"
    script = f"setsid sh -c 'sleep 0.6; touch {left}' & trap '' TERM; sleep 5"
    began = time.monotonic()
    verdicts = run(tmp_path, drill("slow", script, limit_s=0.2, alone="so that it is tried once"))
    assert verdicts["slow"].words == "ended at its limit of 0 s"
    assert not is_ok(verdicts)
    time.sleep(max(0.0, began + 0.7 - time.monotonic()))
    assert not left.exists()


def test_one_that_is_left_out_fails_the_run_but_for_missing_test_data(tmp_path: Path) -> None:
    fault = run(tmp_path, drill("left", "true"), lack=Lack("no kubectl", is_fault=True))
    assert (is_ok(fault), fault["left"].is_left_out) == (False, True)
    missing = run(tmp_path, drill("left", "true"), lack=Lack("no ../shared/testdata", is_fault=False))
    assert is_ok(missing)
    assert "LEFT OUT: no ../shared/testdata" in "\n".join(write_table([*missing.values()]))


def test_a_run_of_nothing_is_not_ok() -> None:
    assert not summarise([], seconds=0)["ok"]


def test_what_is_missing_is_told_with_a_remedy(tmp_path: Path) -> None:
    lack = find_lack(drill("one", "", needs=("no-such-program",)))
    assert lack == Lack("no no-such-program: install it, and see that it is on the PATH", is_fault=True)
    hidden = find_lack(drill("one", "", needs=("visible folder",)), root=Path("/tmp/onlooker"))
    assert hidden
    assert hidden.reason.startswith("cannot run here: ")


def test_a_run_that_is_stopped_ends_its_children_and_fails(tmp_path: Path) -> None:
    schedule = schedule_in(tmp_path, side_by_side=1)
    threading.Timer(0.2, schedule.stop).start()
    schedule.run([drill("long", "sleep 5", limit_s=9.0), drill("next", "true")])
    assert schedule.verdicts["long"].words == "ended with the run"
    assert schedule.verdicts["next"].is_left_out
    assert not is_ok(schedule.verdicts)


def test_one_waits_for_another_and_for_what_it_holds(tmp_path: Path) -> None:
    order = tmp_path / "order"
    verdicts = run(
        tmp_path,
        drill("second", f"echo second >>{order}", limit_s=9.0, after="first"),
        drill("first", f"sleep 0.1; echo first >>{order}", holds="cell"),
        drill("third", f"mkdir {tmp_path}/cell && sleep 0.1 && rmdir {tmp_path}/cell", holds="cell"),
    )
    assert is_ok(verdicts)
    assert order.read_text().split() == ["first", "second"]


def test_few_failed_tests_are_run_once_more_and_named(tmp_path: Path) -> None:
    failing = drill(
        "test", 'test "$1" = --lf || { echo "FAILED tests/test_a.py::test_b - late"; false; }', again="--lf"
    )
    verdict = run(tmp_path, failing)["test"]
    assert (verdict.ok, verdict.words) == (True, "ok, 1 by themselves: tests/test_a.py::test_b")
    many = "".join(f"echo FAILED tests/test_a.py::test_{number};" for number in range(16))
    assert not run(tmp_path, drill("test", many + 'test "$1" = --lf', again="--lf"))["test"].ok
    assert not run(tmp_path, drill("test", 'test "$1" = --lf', again="--lf"))["test"].ok
    assert len(failed_tests(tmp_path / "test.log")) == 0


@needs_just
def test_every_drill_of_ci_has_a_sabotage_that_fits_the_source(declared: Sequence[DrillForm]) -> None:
    sabotages = read_sabotages()
    names = {group: {one.name for one in declared if one.group == group} for group in (SHORT, NIGHTLY)}
    assert names[SHORT] <= {one.drill for one in sabotages} <= names[SHORT] | names[NIGHTLY]
    faults = [
        f"{one.drill}: {one.file} has it {count} times"
        for one in sabotages
        if (count := (ROOT / one.file).read_text(encoding="utf-8").count(one.old)) != 1
    ]
    assert faults == []
    assert [one.drill for one in sabotages if one.old == one.new or not one.why] == []


@needs_just
def test_contributors_find_every_drill(declared: Sequence[DrillForm]) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert [one.recipe for one in declared if f"| `just {one.recipe}" not in text] == []


def test_ci_runs_what_is_declared() -> None:
    assert not (ROOT / ".ci" / "recipes").exists()
    assert 'just ci "$@"' in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
