"""What a set of answers tells together: the sums about people that are combinations of them, solved exactly.

An answer is a sum over a set of people: a row of zeros and ones, with a column for each person. What can be computed
from all answers is the rows' span over the rationals. A sum about some people alone is a vector of that span which is
zero for all others. People whose columns are alike are one atom: a vector of the span has one value for all of
them. So if no atom is smaller than k, no sum is about fewer than k. If one is, the system is solved.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import gcd

from bench.privacy.differences.fingerprint import codes_of

COMBINATIONS_AT_MOST = 3000
"""Of small atoms that are tried together."""

Vector = tuple[int, ...]


@dataclass(frozen=True)
class Atom:
    """People whom no answer tells apart."""

    codes: int
    """A mask."""
    persons: frozenset[int]


class AnswerSystem:
    """All answers that an adversary got. `known`: codes whose values they know from elsewhere."""

    def __init__(self, rows: Iterable[int], persons: Sequence[int], *, known: int = 0) -> None:
        self.rows = sorted({row & ~known for row in rows} - {0})
        self.atoms = [
            Atom(codes, frozenset(persons[code] for code in codes_of(codes))) for codes in _atoms_of(self.rows)
        ]
        self._places = {atom: place for place, atom in enumerate(self.atoms)}

    def small_atoms(self, k: int) -> list[Atom]:
        return [atom for atom in self.atoms if len(atom.persons) < k]

    def find_sum(self, k: int) -> frozenset[int] | None:
        """Fewer than k persons about whom alone some combination of the answers tells; None if there is none."""
        small = self.small_atoms(k)
        if not small:
            return None
        basis = independent(self._vector(row) for row in self.rows)
        for atoms in _chosen(small, k):
            places = {self._places[atom] for atom in atoms}
            outside = [tuple(0 if place in places else one for place, one in enumerate(row)) for row in basis]
            if len(independent(outside)) < len(basis):
                return frozenset[int]().union(*(atom.persons for atom in atoms))
        return None

    def _vector(self, row: int) -> Vector:
        return tuple(int(row & atom.codes != 0) for atom in self.atoms)


def _chosen(small: Sequence[Atom], k: int) -> Iterator[tuple[Atom, ...]]:
    """Few at first: most that is found is about one."""
    tried = 0
    for count in range(1, k):
        for atoms in combinations(small, count):
            if len(frozenset[int]().union(*(atom.persons for atom in atoms))) < k:
                yield atoms
                tried += 1
                if tried >= COMBINATIONS_AT_MOST:
                    return


def _atoms_of(rows: Sequence[int]) -> list[int]:
    """The coarsest division of all codes such that each row consists of whole parts, by splitting part after part."""
    everyone = 0
    for row in rows:
        everyone |= row
    atoms = [everyone] if everyone else []
    for row in rows:
        atoms = [part for atom in atoms for part in (atom & row, atom & ~row) if part]
    return atoms


def independent(rows: Iterable[Vector]) -> list[Vector]:
    """Rows in echelon form with the same span; whole numbers all the way, so nothing is rounded."""
    found: list[tuple[int, Vector]] = []
    for row in rows:
        rest = row
        for place, known in found:
            if rest[place]:
                rest = _without(rest, known, place)
        if any(rest):
            found.append((next(place for place, one in enumerate(rest) if one), rest))
    return [row for _, row in found]


def _without(row: Vector, known: Vector, place: int) -> Vector:
    """A multiple of the row, less one of a known row, so that nothing is left at its place."""
    rest = [one * known[place] - other * row[place] for one, other in zip(row, known, strict=True)]
    common = gcd(*rest)
    return tuple(one // common for one in rest) if common > 1 else tuple(rest)
