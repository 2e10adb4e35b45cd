"""The order of expressions is a wire format: it is what it was, and it is written once."""

import re
from pathlib import Path

from onlooker_pipeline.expressions import EXPRESSIONS

ROOT = Path(__file__).resolve().parents[3]
WRITTEN_OUT = re.compile(r'"neutral",\s*"happiness",\s*"surprise"')


def test_order_is_the_one_that_stored_visits_have() -> None:
    assert EXPRESSIONS == ("neutral", "happiness", "surprise", "anger", "sadness")


def test_order_is_written_in_one_module() -> None:
    sources = [*ROOT.glob("pipeline/src/**/*.py"), *ROOT.glob("server/src/**/*.py")]
    found = [path.name for path in sources if WRITTEN_OUT.search(path.read_text())]
    assert found == ["expressions.py"]
