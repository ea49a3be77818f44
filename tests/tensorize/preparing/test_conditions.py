"""Conditions on iterators as sets of instances: those for which gcc's code takes the branch, point by point."""

import ctypes

import islpy as isl
import numpy as np
import pytest

from polysched.scop import from_c_text
from polysched.scop.body import Assign, Binary, Cast, Expr, IteratorRef, Literal, Select
from polysched.scop.dtypes import INT8, INT32, INT64, UINT32, UINT64
from polysched.scop.points import fix_parameters
from polysched.scop.scop import Scop
from polysched.target import find_compiler
from polysched.tensorize.preparing.conditions import affine, condition_of, instances_where

N = 5
LOOPS = ("for (int i = -4; i < n; i++) for (unsigned j = 0; j < 6; j++) for (long k = 0; k < 3; k++) "
         "A[i + 4][j][k] = ({}) ? 1 : 0;")
EXACT = [
    "i < 2", "2 > i", "i <= 2", "i >= 2", "i == 2", "i != 2", "2 * i - 3 < n", "i + k > -1", "-(i - k) >= 1",
    "i < 2 && k > 0", "i < -1 || k == 2", "!(i < 2)", "!(i < 2 && k == 1)", "j < 3", "3u <= j", "j == 0u",
    "k < j", "k == j", "(long)i < k", "(long)(i < 2)", "i * 3 > 2 * 4 - n", "n - 4 > i", "i < n - 1 || i > 3",
    "j < 4 && k < 4u", "5 - 2 < j",
]
LEFT_ALONE = [   # what C computes is another set, or none that is affine
    "i < j", "j > i", "i < 3u", "i >= 0u", "i == 4294967295u", "j - 1 < 3", "-j > 3", "j + 4294967295u < 3",
    "i * k < 3", "i % 2 == 0", "(char)(i * 100) < 3", "(unsigned)i < 3", "A[0][0][0] < 3", "i < 2 && A[0][0][0]",
    "n * i < 3", "i & 1", "(unsigned long)i > 3", "i - 1 < j",
    "!(i < 2 && k)", "(i < 2) == 1", "j < n",
]


def program(conditions: list[str]) -> str:
    text = "\n".join(LOOPS.format(c) for c in conditions)
    return f"void f(int n, int A[9][6][3]) {{\n#pragma scop\n{text}\n#pragma endscop\n}}\n"


def written(scop: Scop, at: int) -> Expr:
    (item,) = scop.statements[at].body
    assert isinstance(item, Assign)
    assert isinstance(item.value, Select)
    return item.value.condition


@pytest.fixture(scope="module")
def chosen_by_gcc(tmp_path_factory: pytest.TempPathFactory) -> list[np.ndarray]:
    """Per exact condition the elements that code of gcc sets."""
    folder = tmp_path_factory.mktemp("conditions")
    source, library = folder / "f.c", folder / "f.so"
    source.write_text("".join(program([c]).replace("void f(", f"void f{at}(") for at, c in enumerate(EXACT)))
    done = find_compiler().run(["-O1", "-w", "-shared", "-fPIC", str(source), "-o", str(library)])
    assert not done.returncode, done.stderr
    found = [np.zeros((9, 6, 3), np.int32) for _ in EXACT]
    for at, a in enumerate(found):
        getattr(ctypes.CDLL(str(library)), f"f{at}")(N, a.ctypes.data_as(ctypes.c_void_p))
    return found


def points(where: isl.Set) -> set[tuple[int, ...]]:
    found: set[tuple[int, ...]] = set()
    fix_parameters(where, {"n": N}).foreach_point(lambda p: found.add(tuple(
        int(p.get_coordinate_val(isl.dim_type.set, at).to_python()) for at in range(3))))
    return found


@pytest.mark.parametrize("condition", EXACT)
def test_instances_are_those_that_gcc_chooses(condition: str, chosen_by_gcc: list[np.ndarray]) -> None:
    scop = from_c_text(program([condition]))
    where = instances_where(scop, scop.statements[0], written(scop, 0))
    assert where is not None
    expected = {(i - 4, j, k) for i, j, k in np.argwhere(chosen_by_gcc[EXACT.index(condition)]).tolist()}
    assert points(where) == expected


@pytest.mark.parametrize("condition", LEFT_ALONE)
def test_what_wraps_or_looks_at_data_is_no_set(condition: str) -> None:
    scop = from_c_text(program([condition]))
    assert instances_where(scop, scop.statements[0], written(scop, 0)) is None


def test_a_signed_side_may_meet_an_unsigned_one_where_it_is_never_negative() -> None:
    text = program(["i < 3u"])
    kept = from_c_text(text.replace("int i = -4", "int i = 0"))
    assert instances_where(kept, kept.statements[0], written(kept, 0)) is not None
    from_parameter = from_c_text(text.replace("int i = -4", "int i = n - 5"))
    assert instances_where(from_parameter, from_parameter.statements[0], written(from_parameter, 0)) is None


def test_affine_forms_keep_what_conversions_keep() -> None:
    domain, i = isl.Set("[n] -> { S[i] : 0 <= i < n }"), IteratorRef("i", INT32)
    for e, expected in (
            (i, "[n] -> { S[i] -> [(i)] }"), (Cast(i, INT64), "[n] -> { S[i] -> [(i)] }"),
            (Binary("*", Literal("-3", -3, INT32), i, INT32), "[n] -> { S[i] -> [(-3i)] }"),
            (Cast(Literal("7", 7, INT32), UINT64), "[n] -> { S[i] -> [(7)] }")):
        found = affine(domain, e)
        assert found is not None
        assert found.plain_is_equal(isl.Aff(expected))
    for refused in (Cast(i, INT8), Cast(i, UINT32), Cast(Literal("-1", -1, INT32), UINT32),
                    IteratorRef("elsewhere", INT32), Binary("/", i, Literal("2", 2, INT32), INT32)):
        assert affine(domain, refused) is None


@pytest.mark.parametrize("condition", EXACT)
def test_a_set_of_instances_is_said_as_a_condition(condition: str) -> None:
    scop = from_c_text(program([condition]))
    (statement,) = scop.statements
    where = instances_where(scop, statement, written(scop, 0))
    assert where is not None
    said = condition_of(scop, statement, where)
    if said is None:
        assert where.is_subset(statement.domain.complement()) or where.is_equal(statement.domain)
        return
    again = instances_where(scop, statement, said)
    assert again is not None
    assert again.intersect_params(scop.context).is_equal(where.intersect_params(scop.context))
