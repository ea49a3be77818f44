"""A fragment says of every iteration which element is where, as the access relations do, point by point."""

from __future__ import annotations

import math

import pytest

from polysched.errors import UsageError
from polysched.scop.body import Binary, Cast, Literal, Load, walk
from polysched.scop.points import points_of
from polysched.scop.scop import Scop
from polysched.tensorize.description.semantics import is_table_read, table_reads
from polysched.tensorize.software.fragment import Index, fragments, is_table, sample_sizes
from tests.tensorize.described import programs_of

ARRAYS = "int C[8][9], int A[9][7], int B[90], unsigned char T[16], int n"
NEST = "for (int i = 0; i < 5; i++) for (int j = 1; j < 4; j++) for (int k = 0; k < 3; k++) "
TEXTS = {
    "affine": NEST + "C[i + 1][2 * j] += A[4 - i][k + 3] * B[9 * i + 3 * j + k];",
    "linearised": NEST + "C[i][j] += B[(i + 1) * 7 + k] * A[k][j];",
    "quotient": NEST + "C[i / 2][j] += A[i][k] * B[(3 * i + k) / 2];",
    "triangle": NEST.replace("j < 4", "j < i") + "C[i][j] += A[i][k];",
    "down": "for (int i = 4; i >= 0; i--) for (int j = 3; j > 0; j--) C[i][j] += A[j][i];",
    "by steps": "for (int i = 0; i < 8; i += 3) for (int j = 0; j < 6; j += 2) C[i][j] += A[i][j] * B[j];"}


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    return programs_of({n: (ARRAYS, t) for n, t in TEXTS.items()}, tmp_path_factory.mktemp("fragment"))


@pytest.mark.parametrize("name", TEXTS)
def test_steps_in_memory_are_those_of_the_relations(name: str, programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs[name], sizes={"n": 5} if programs[name].parameters else {})
    iterators = fragment.statement.iterators
    affine = 0
    for access in fragment.statement.accesses:
        extents = {"C": (8, 9), "A": (9, 7), "B": (90,)}[access.array]
        pairs = points_of(fragment.relation(access.reference).wrap())
        depth = len(iterators)
        places = {p[:depth]: sum(x * math.prod(extents[at + 1:]) for at, x in enumerate(p[depth:])) for p in pairs}
        steps = fragment.memory_steps[access.reference]
        if steps is None:
            continue
        affine += 1
        first, base = next(iter(places.items()))
        for point, place in places.items():
            moved = zip(iterators, point, first, strict=True)
            assert place - base == sum(steps.get(n, 0) * (x - y) for n, x, y in moved)
    assert affine >= (2 if name == "quotient" else len(fragment.statement.accesses) - 1) - (name == "quotient")


@pytest.mark.parametrize("name", TEXTS)
def test_loops_ranges_and_boxes_bound_the_domain_exactly(name: str, programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs[name])
    points = points_of(fragment.domain)
    columns = list(zip(*points, strict=True))
    for loop, column in zip(fragment.loops, columns, strict=True):
        assert (loop.lower, loop.extent) == (min(column), max(column) - min(column) + 1)
        assert fragment.ranges[loop.name] == (min(column), max(column))
    assert fragment.work == math.prod(loop.extent for loop in fragment.loops) == fragment.box.count_val().to_python()
    assert fragment.is_box is (len(points) == fragment.work)
    assert fragment.iterations(()) == 1
    assert fragment.times == 1
    assert fragment.reached_always


def test_kept_loops_stand_at_their_first_iteration(programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs["triangle"])
    inside = fragment.inside(1)
    assert [loop.extent for loop in inside.loops] == [1, *(loop.extent for loop in fragment.loops[1:])]
    assert inside.kept == ("i",)
    assert inside.kept_extents == (3,), "i runs from 2, where j has an iteration"
    assert inside.times == 3
    assert inside.reached_always
    assert not inside.is_box, "j ends elsewhere in every iteration"
    assert inside.inside(1) is inside
    assert fragment.inside(0) is fragment


def test_indices_name_coefficients_or_only_loops(programs: dict[str, Scop]) -> None:
    (fragment,) = fragments(programs["quotient"])
    by_array = {a.array: fragment.indices[a.reference] for a in fragment.statement.accesses if not a.is_write}
    assert by_array["A"] == (Index((("i", 1),)), Index((("k", 1),)))
    assert by_array["B"][0].loops == {"i", "k"}
    assert not by_array["B"][0].affine
    read = next(x for x in walk(fragment.update) if isinstance(x, Load)
                and fragment.statement.access(x.reference).array == "B")
    assert fragment.loops_of(read) == {"i", "k"}
    assert fragment.loops_of(Literal("1", 1, read.dtype)) == frozenset()


def test_the_update_has_one_name_per_element_and_the_targets_type(tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = {"twice": ("short C[4], int A[4]", "for (int i = 0; i < 4; i++) C[i] -= A[i] * A[i] - C[i];"),
             "set": ("short C[4], int A[4]", "for (int i = 0; i < 4; i++) C[i] = A[i];"),
             "other": ("short C[5], int A[4]", "for (int i = 0; i < 4; i++) C[i] = C[i + 1] + C[i];")}
    made = {n: fragments(s)[0] for n, s in programs_of(texts, tmp_path_factory.mktemp("update")).items()}
    twice = made["twice"]
    assert isinstance(twice.update, Cast)
    assert twice.update.dtype.name == "int16"
    loads = [x.reference for x in walk(twice.update) if isinstance(x, Load)]
    assert loads.count(twice.target) == 2
    assert len(set(loads)) == 2
    assert twice.result == Load(twice.target, twice.update.dtype)
    assert twice.text(twice.result) == "C[i]"
    assert made["set"].update.dtype.name == "int16"
    other = [x.reference for x in walk(made["other"].update) if isinstance(x, Load)]
    assert len(set(other)) == 2
    assert made["other"].target in other
    assert isinstance(next(x for x in walk(twice.update) if isinstance(x, Binary)), Binary)


def test_tables_are_calls_named_by_the_access_that_reads_first(tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = {"table": ("int C[4], unsigned char T[16], unsigned char A[4]",
                       "for (int i = 0; i < 4; i++) C[i] = T[A[i] & 15] + T[A[i] >> 4];"),
             "written": ("int C[16], unsigned char A[4]", "for (int i = 0; i < 4; i++) C[i] = C[A[i] & 15];")}
    scops = programs_of(texts, tmp_path_factory.mktemp("tables"))
    assert fragments(scops["table"]) == ()
    (fragment,) = fragments(scops["table"], tables=True)
    reads = list(table_reads(fragment.update))
    assert len(reads) == 2
    assert len({r.function for r in reads}) == 1
    assert fragment.text(reads[0]) == "T[A[i] & 15]"
    assert all(map(is_table_read, reads))
    assert fragments(scops["written"], tables=True) == (), "what the statement writes is no table"
    statement = scops["written"].statements[0]
    assert not any(is_table(scops["written"], statement, a) for a in statement.accesses)


def test_sizes_without_a_value_are_different_primes_and_forbidden_ones_are_refused(
        tmp_path_factory: pytest.TempPathFactory) -> None:
    texts = {"sized": ("int n, int m, int C[n], int A[m]",
                       "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) C[i] += A[j];")}
    (scop,) = programs_of(texts, tmp_path_factory.mktemp("sizes")).values()
    assert sample_sizes(scop, {}) == {"n": 19, "m": 23}
    assert sample_sizes(scop, {"m": 5}) == {"n": 19, "m": 5}
    with pytest.raises(UsageError, match="the program has no parameter k"):
        sample_sizes(scop, {"k": 5})
    with pytest.raises(UsageError, match="the program's context forbids these sizes"):
        sample_sizes(scop, {"n": -5})
    (fragment,) = fragments(scop, sizes={"n": 3, "m": 2})
    assert [loop.extent for loop in fragment.loops] == [3, 2]
    assert fragment.ranges["n"] == (3, 3)
