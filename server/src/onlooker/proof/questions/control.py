"""Whether the marks of two streams tell their numbers apart: else silence would say nothing."""

import json

from onlooker.proof.questions.marked_streams import GROUPS, judge_json
from onlooker.proof.questions.parameters import METRICS, question, target
from onlooker.proof.questions.sender import QuestionSender
from onlooker.proof.questions.tally import RIGHT


def tells_apart(sender: QuestionSender) -> bool:
    """Whether both streams get their own numbers, all of them, and each would object to the other's."""
    bodies = [_ask_all(sender, whose) for whose in range(2)]
    if not all(bodies):
        return False
    fitting = [[judge_json(body, marked) for marked in sender.streams] for body in bodies]
    return [[not objections for _, objections in row] for row in fitting] == [[True, False], [False, True]] and all(
        counted for row in fitting for counted, _ in row
    )


def _ask_all(sender: QuestionSender, whose: int) -> bytes:
    """The answer about everybody; nothing if it is not that."""
    asked = target(question(sender, time="global"))
    reply = sender.ask("controls", asked, expected=RIGHT, whose=whose)
    if reply.status != 200:
        return b""
    (bucket,) = json.loads(reply.body)["entities"].values()
    people = GROUPS * sender.streams[whose].signature.people
    return reply.body if [*bucket] == [*METRICS] and bucket["passing_by"]["value"] == people else b""
