"""SECURITY.md says what each process can reach, as it is declared; `just takeover` compares that with the product."""

from bench.abuse.takeover.expectation import EXPECTED, PAGE, PROCESSES, SECTION, draw_table
from bench.abuse.takeover.reaches import Neighbourhood, find_reaches


def test_the_table_is_what_is_declared() -> None:
    assert PAGE.holds(SECTION, draw_table(EXPECTED))


def test_every_reach_is_declared() -> None:
    around = Neighbourhood(home="/", others={}, roles=[], database="", bus_port=0, outside_port=0)
    assert list(find_reaches(around)) == list(EXPECTED)
    assert set().union(*EXPECTED.values()) == set(PROCESSES)
