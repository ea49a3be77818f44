"""The check of a mapping by isl refuses exactly what enumeration of all iterations refuses."""

from __future__ import annotations

import itertools

import pytest

from polysched.scop.body import Expr, IteratorRef, Load, walk
from polysched.scop.points import points_of
from polysched.scop.scop import Scop
from polysched.tensorize.proofs.isl_check import IslCheck, fused_index, iteration_map, padding_counts
from polysched.tensorize.software.fragment import Fragment, fragments
from tests.tensorize.described import programs_of

ARRAYS = "int C[40], int A[40], int B[40]"
BOX = "for (int i = 0; i < 2; i++) for (int j = 1; j < 4; j++) for (int k = 0; k < 2; k++) "
TEXTS = {
    "product": BOX + "C[4 * i + j] += A[2 * i + k] * B[4 * k + j];",
    "window": BOX + "C[j] += A[j + k] * B[k + i];",
    "overlapping result": BOX + "C[i + j] += A[j] * B[2 * i + k];",
    "one element": BOX + "C[0] += A[4 * i + j] * B[k];",
    "fused result": BOX + "C[12 * i + 3 * j + k] += A[i] * B[j];",
    "quotients": BOX + "C[i] += A[j / 2] * B[(2 * j + k) / 3];",
    "nothing reduced": BOX + "C[6 * i + 2 * j + k] += A[2 * j + k];",
    "triangle": BOX.replace("k < 2", "k <= i") + "C[4 * i + j] += A[2 * i + k] * B[4 * k + j];",
    "band": BOX.replace("j < 4", "j < 3 + i") + "C[4 * i + j] += A[2 * i + k] * B[4 * k + j];",
    "an iterator as a value": BOX + "C[4 * i + j] += (A[2 * i + k] + j) * B[4 * k + j];"}
INDEXES = (frozenset("CA"), frozenset("CB"), frozenset("AB"))
GROUPS = (None, 0, 1, 2)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return programs_of({n: (ARRAYS, t) for n, t in TEXTS.items()}, tmp_path_factory.mktemp("check"))


class Enumerated:
    """The same answers from all points of the domain."""

    def __init__(self, fragment: Fragment, held: dict[str, Expr]) -> None:
        self.points = [dict(zip(fragment.statement.iterators, p, strict=True)) for p in points_of(fragment.domain)]
        self.fragment, self.held = fragment, held
        self.elements = {a.reference: dict(self.pairs(a.reference)) for a in fragment.statement.accesses}
        self.reach = [range(loop.lower, loop.lower + loop.extent) for loop in fragment.loops]

    def pairs(self, reference: str) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        wrapped = self.fragment.relation(reference).wrap()
        depth = self.fragment.statement.depth
        return [(p[:depth], p[depth:]) for p in points_of(wrapped)]

    def value(self, operand: str, point: dict[str, int]) -> tuple[object, ...]:
        """What an operand holds in an iteration, as elements and numbers."""
        if operand == "C":
            return (self.elements[self.fragment.target][tuple(point.values())],)
        parts = list(walk(self.held[operand]))
        return (*(self.elements[x.reference][tuple(point.values())] for x in parts if isinstance(x, Load)),
                *(point[x.name] for x in parts if isinstance(x, IteratorRef)))

    def accepts(self, loops: list[tuple[str, ...]]) -> bool:
        outer = [loop.name for loop in self.fragment.loops if all(loop.name not in m for m in loops)]
        for operand in ("C", *self.held):
            shown = [n for m, i in zip(loops, INDEXES, strict=True) if operand in i for n in m]
            known: dict[tuple[int, ...], tuple[object, ...]] = {}
            for point in self.points:
                place = tuple(point[n] for n in (*outer, *shown))
                if known.setdefault(place, self.value(operand, point)) != self.value(operand, point):
                    return False
        return self.results_differ(loops) and not self.counts(loops)

    def results_differ(self, loops: list[tuple[str, ...]]) -> bool:
        """Of iterations that differ in lanes of the result alone no two write one element."""
        named = {n for i in self.fragment.indices[self.fragment.target] for n in i.loops}
        lanes = [n for m, i in zip(loops, INDEXES, strict=True) if "C" in i for n in m if n in named]
        rest = [loop.name for loop in self.fragment.loops if loop.name not in lanes]
        places = {(tuple(p[n] for n in rest), self.value("C", p)): tuple(p[n] for n in lanes) for p in self.points}
        return all(places[tuple(p[n] for n in rest), self.value("C", p)] == tuple(p[n] for n in lanes)
                   for p in self.points)

    def counts(self, loops: list[tuple[str, ...]]) -> bool:
        """A point that padding adds meets elements of the program in all operands and in the result."""
        views = [self.fragment.loops_of(e) | {n for m, i in zip(loops, INDEXES, strict=True) if o in i for n in m}
                 for o, e in self.held.items()]
        views.append(frozenset(n for i in self.fragment.indices[self.fragment.target] for n in i.loops))
        seen = [{tuple(p[n] for n in p if n in view) for p in self.points} for view in views]
        names = self.fragment.statement.iterators
        for values in itertools.product(*self.reach):
            point = dict(zip(names, values, strict=True))
            if point not in self.points and all(
                    tuple(point[n] for n in point if n in view) in s for view, s in zip(views, seen, strict=True)):
                return True
        return False


def operands(fragment: Fragment) -> dict[str, Expr]:
    """What A and B hold: the factors that name them."""
    arrays = {a.reference: a.array for a in fragment.statement.accesses}
    found: dict[str, Expr] = {}
    for e in walk(fragment.update):
        names = {arrays[x.reference] for x in walk(e) if isinstance(x, Load)}
        if len(names) == 1 and names <= {"A", "B"}:
            found.setdefault(names.pop(), e)
    return found


@pytest.mark.parametrize("name", TEXTS)
def test_a_mapping_is_refused_exactly_where_enumeration_refuses_it(name: str, programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs[name])
    held = operands(fragment)
    check, enumerated = IslCheck(fragment), Enumerated(fragment, held)
    accepted = 0
    for places in itertools.product(GROUPS, repeat=3):
        loops = [tuple(n for n, p in zip("ijk", places, strict=True) if p == g) for g in range(3)]
        refusal = check.refusal(held, "C", INDEXES, loops)
        assert (refusal is None) is enumerated.accepts(loops), (loops, refusal)
        accepted += refusal is None
    assert 0 < accepted < len(GROUPS) ** 3


def test_the_fused_index_counts_all_iterations_in_order(programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs["product"])
    text = fused_index(fragment, ("i", "j"))
    relation = iteration_map(fragment, [text, "k"])
    found = {tuple(p[:3]): p[3] for p in points_of(relation.wrap())}
    assert found == {(i, j, k): 3 * i + j - 1 for i, j, k in itertools.product(range(2), range(1, 4), range(2))}
    assert fused_index(fragment, ()) == "0"


def test_a_loop_in_two_groups_is_refused_and_names_itself(programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs["product"])
    refusal = IslCheck(fragment).refusal(operands(fragment), "C", INDEXES, [("i",), ("j", "i"), ()])
    assert refusal is not None
    assert refusal.loops == {"i", "j"}
    assert refusal.reason == "two iterations fall on the same place of the instruction"


def test_the_point_of_padding_is_named(programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs["triangle"])
    assert "i = 0" in padding_counts(fragment, [frozenset("k"), frozenset("ij")]) \
        or "[0, " in padding_counts(fragment, [frozenset("k"), frozenset("ij")])
    assert padding_counts(fragment, [frozenset("ik")]) == ""


def test_a_call_that_reads_what_it_writes_is_refused(tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = {"same": (ARRAYS, BOX + "C[4 * i + j] += C[20 + 2 * i + k] * B[4 * k + j];"),
             "meets": (ARRAYS, BOX + "C[4 * i + j] += C[2 * i + k + 3] * B[4 * k + j];")}
    for name, scop in programs_of(texts, tmp_path_factory.mktemp("while")).items():
        (fragment,) = fragments(scop)
        arrays = {a.reference: a for a in fragment.statement.accesses}
        read = next(x for x in walk(fragment.update) if isinstance(x, Load) and x.reference != fragment.target
                    and arrays[x.reference].array == "C")
        refusal = IslCheck(fragment).written_while_read({"A": read}, [("i",), ("j",), ("k",)])
        assert (refusal is None) is (name == "same")
