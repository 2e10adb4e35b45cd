"""A request for numbers passes through few modules, so that its code can be read in order. `pytest -s` prints them."""

from module_walk import followed
from readers import Question, seen

pytest_plugins = ["endpoint"]

FOLLOWED = ("onlooker.http.", "onlooker.streams.", "onlooker.audit.", "onlooker.data.", "onlooker.metrics.")
MOST_MODULES, MOST_RETURNS = 17, 18


def test_a_request_for_numbers_is_read_in_order(question: Question) -> None:
    question.write(seen(question.stream, "2026-03-02T09:30:00Z", still_s=6, look_s=3))
    question.body(time="by_hour")  # what is done once per process is done now
    with followed(*FOLLOWED) as walk:
        body = question.body(time="by_hour")
    assert body["entities"]["2026-03-02T09:00:00+00:00"]["passing_by"] == {"value": 1}
    print(walk)
    assert len(walk.modules) <= MOST_MODULES
    assert walk.returns <= MOST_RETURNS
