"""An analyst's week: twelve questions, each answered within five clicks, with the data endpoint's numbers."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from bench.journeys.dashboard import answers
from bench.journeys.dashboard.analyst import Analyst
from bench.journeys.dashboard.stage import Stage
from bench.journeys.figures import JourneyFigure
from bench.lib.product import say

CLICKS_AT_MOST = 5


@dataclass(frozen=True)
class AnalystQuestion:
    """What an analyst wants to know, and the clicks to the answer from the page after signing in."""

    name: str
    """Of its pictures."""
    asked: str
    clicks: int
    answer: Callable[[Analyst], None]
    """Clicks, reads the answer, and holds it against the data endpoint; the page stays open for its pictures."""
    given: Callable[[Stage], AbstractContextManager[None]] = lambda _: nullcontext()
    """What has to be so while it is asked."""


QUESTIONS: Sequence[AnalystQuestion] = (
    AnalystQuestion("screens", "Which of my two screens draws more people?", 3, answers.compare_screens),
    AnalystQuestion("campaign", "Did the campaign work?", 4, answers.judge_campaign),
    AnalystQuestion("last-month", "How was last month?", 3, answers.show_last_month),
    AnalystQuestion("longest-look", "Who looks longest, by age and gender?", 4, answers.find_longest_look),
    AnalystQuestion("stays", "How long do people stay?", 2, answers.show_stays),
    AnalystQuestion(
        "best-hours", "At which hours of the week do most people become interested?", 3, answers.find_best_hours
    ),
    AnalystQuestion("year-ago", "How was last week beside the same week last year?", 5, answers.look_back_a_year),
    AnalystQuestion(
        "beside",
        "Do people stop longer when fewer come, in our opening hours?",
        5,
        answers.put_two_beside,
        answers.open_by_day,
    ),
    AnalystQuestion("women", "What about women of 25 to 34 alone?", 2, answers.keep_to_women),
    AnalystQuestion("files", "Can I have last week's numbers as CSV and as Parquet?", 5, answers.take_files),
    AnalystQuestion("link", "Can my landlord look at them without an account?", 4, answers.share_numbers),
    AnalystQuestion(
        "report", "Can my client get them every Monday, in French?", 5, answers.plan_report, answers.mails_outside
    ),
)


def ask_questions(stage: Stage) -> list[JourneyFigure]:
    """Each from the page where someone lands who has just signed in."""
    before, analyst = stage.compared, Analyst(stage)
    answered, most = 0, 0
    for question in QUESTIONS:
        faults = len(stage.faults)
        ask(question, analyst)
        answered += len(stage.faults) == faults
        most = max(most, analyst.clicks)
    return [
        JourneyFigure("questions_answered", answered, at_least=len(QUESTIONS)),
        JourneyFigure("most_clicks_of_a_question", most, at_most=CLICKS_AT_MOST),
        JourneyFigure("question_numbers_compared", stage.compared - before, at_least=200),
        JourneyFigure("question_requests_elsewhere", analyst.asked_elsewhere, at_most=0),
    ]


def ask(question: AnalystQuestion, analyst: Analyst) -> None:
    """And have the page with the answer photographed and checked."""
    stage, compared = analyst.stage, analyst.stage.compared
    with question.given(stage):
        analyst.begin()
        question.answer(analyst)
        clicks, compared = analyst.clicks, stage.compared - compared
        stage.check(clicks == question.clicks, f"{question.name}: {clicks} clicks instead of {question.clicks}")
        stage.check(compared > 0, f"{question.name}: no number was compared")
        analyst.look(question.name)
    say(f"  {clicks} clicks, {compared} numbers: {question.asked}")
