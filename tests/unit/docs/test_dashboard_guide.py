"""The guide's table of questions is what `just test-dashboard --only questions` asks and counts."""

import re

from bench.journeys.dashboard.questions import CLICKS_AT_MOST, QUESTIONS
from doc_pages import ROOT

ROW = re.compile(r"^\| (?P<asked>[^|]+\?) \| [^|]+ \| (?P<clicks>\d+) \|$", re.MULTILINE)


def test_questions_and_their_clicks_are_those_of_the_journey() -> None:
    guide = (ROOT / "docs" / "guides" / "dashboard.md").read_text(encoding="utf-8")
    written = [(row["asked"], int(row["clicks"])) for row in ROW.finditer(guide)]
    assert written == [(question.asked, question.clicks) for question in QUESTIONS]


def test_there_are_twelve_within_five_clicks() -> None:
    assert len(QUESTIONS) == 12
    assert max(question.clicks for question in QUESTIONS) <= CLICKS_AT_MOST
