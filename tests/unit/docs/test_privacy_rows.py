"""Every row of the privacy tables has a check, and every check of the registry is of a row."""

import importlib
import importlib.util
import re
from types import ModuleType

import pytest

from doc_pages import ROOT
from onlooker.proof.build_checks import BUILD_CHECKS
from onlooker.proof.checks import load_checks
from onlooker.proof.promises import CONCEPT, PRIVACY, PROMISES

CHECKS = ROOT / "docs/reference/checks.md"
ROW = re.compile(r"^\| (?!what \||promise \|)(.+) \| \[check\]\(([^)#]+)#([\w-]+)\) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs/generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def rows(generator: ModuleType) -> ModuleType:
    return importlib.import_module("privacy_rows")


def linked(document: str) -> list[str]:
    """The promise of each row, by its link; a row without one is there as nothing."""
    text = (ROOT / document).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.startswith("| ") and not line.endswith(" check |")]
    found = [ROW.match(line) for line in lines]
    for match in filter(None, found):
        assert ((ROOT / document).parent / match[2]).resolve() == CHECKS
    return [match[3] if match else "" for match in found]


@pytest.mark.parametrize("document", [PRIVACY, CONCEPT])
def test_rows_and_promises_are_the_same(document: str) -> None:
    assert linked(document) == [one.id for one in PROMISES if one.document == document]


def test_every_link_leads_to_a_check() -> None:
    sections = dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^#|\Z)", CHECKS.read_text(encoding="utf-8"), re.M | re.S))
    assert list(sections) == [one.id for one in PROMISES]
    assert [name for name, text in sections.items() if "\n- " not in text] == []


def test_every_promise_is_checked_at_each_build_or_now() -> None:
    checked = {*BUILD_CHECKS, *(name for check in load_checks() for name in check.promises)}
    assert checked == {one.id for one in PROMISES}


def test_checks_have_a_paragraph_in_the_guide() -> None:
    guide = (ROOT / "docs/guides/prove.md").read_text(encoding="utf-8")
    assert re.findall(r"^### ([\w-]+)$", guide, re.MULTILINE) == [check.id for check in load_checks()]


@pytest.mark.parametrize("document", [PRIVACY, CONCEPT])
def test_row_without_a_check_fails_the_build_and_names_the_remedy(rows: ModuleType, document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    assert rows.link_rows(text, document) == text
    last = next(line for line in reversed(text.splitlines()) if line.startswith("| "))
    more = text.replace(last, f"{last}\n| faces of visitors | a folder | permanently |")
    with pytest.raises(
        rows.Undocumented, match=r"has no check: 'faces of visitors'. Add it to onlooker.proof.promises"
    ):
        rows.link_rows(more, document)


def test_promise_without_a_row_fails_the_build(rows: ModuleType) -> None:
    text = (ROOT / PRIVACY).read_text(encoding="utf-8")
    without = "\n".join(line for line in text.splitlines() if not line.startswith("| a blob |"))
    with pytest.raises(rows.Undocumented, match="has no row for the promises 'a blob'"):
        rows.link_rows(without, PRIVACY)


def test_row_whose_link_was_lost_gets_it_again(rows: ModuleType) -> None:
    text = (ROOT / CONCEPT).read_text(encoding="utf-8")
    lost = re.sub(r" \[check\]\([^)]*\) \|$", "", text, flags=re.MULTILINE)
    assert lost != text
    assert rows.link_rows(lost, CONCEPT) == text


def why_refused(generator: ModuleType) -> str:
    """Of the page alone: all pages take half a minute."""
    with pytest.raises(generator.Undocumented) as refused:
        generator.PAGES[CHECKS.name]()
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("test_nothing.py", "test_nothing.py, which is not there"),
        ("test_logs.py::test_nothing", "test_nothing, which is not there"),
        ("just nothing", "`just nothing`, which is no recipe"),
        ("lint-imports: Nothing", "'Nothing', which pyproject.toml does not have"),
    ],
)
def test_check_that_leads_nowhere_fails_the_build(
    generator: ModuleType, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    monkeypatch.setitem(BUILD_CHECKS, "kept-blob", (name,))
    assert words in why_refused(generator)


def test_promise_that_nothing_checks_fails_the_build(generator: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(BUILD_CHECKS, "account-invitation")
    assert "Nothing checks account-invitation" in why_refused(generator)


def test_check_of_no_promise_fails_the_build(generator: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILD_CHECKS, "kept-nothing", ("just quiet",))
    assert "promises that are none: kept-nothing" in why_refused(generator)
