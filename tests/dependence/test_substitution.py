"""Scalars replaced by their values: what is, what must not be, and the same results either way."""

import numpy as np
import pytest

from polysched.dependence import analyse
from polysched.dependence.if_conversion import without_branches
from polysched.dependence.substitution import substitute_temporaries
from polysched.scop import all_from_c_file
from polysched.scop.interpreter import execute, extents_of
from polysched.scop.scop import Scop


def nest(body: str) -> str:
    return f"for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) for (int k = 0; k < 4; k++) {{ {body} }}"


def same_results(scop: Scop, changed: Scop) -> None:
    chooser = np.random.default_rng(5)
    first = {a.name: chooser.integers(-128, 128, tuple(extents_of(a, {}))).astype(a.dtype.name)
             for a in scop.arrays if not a.is_temporary}
    results = []
    for one in (scop, changed):
        arrays = {a.name: first[a.name].copy() if a.name in first
                  else np.full(tuple(extents_of(a, {})), 77, a.dtype.name) for a in one.arrays}
        execute(one, {}, arrays)
        results.append(arrays)
    for name in first:
        np.testing.assert_array_equal(results[1].get(name, first[name]), results[0][name], err_msg=name)


REPLACED = {   # each becomes one statement per assignment of an array
    "chain": nest("int t = A[i][k] * B[k][j]; int s = C[i][j] + t; C[i][j] = s;"),
    "branches": nest("long t = (long)C[i][j] + A[i][k]; if (t > 99) t = 99; else if (t < -9) t = -9; C[i][j] = t;"),
    "both branches": nest("int t = A[i][k]; if (t < B[k][j]) C[i][j] = t; else C[i][j] = B[k][j];"),
    "branch after branch": nest("int t = A[i][k]; if (t < 0) t = -t; if (t > 100) { t = 100; } C[i][j] += t;"),
    "compound": nest("int s; s = A[i][k]; s *= B[k][j]; s -= 3; s <<= 1; C[i][j] ^= s;"),
    "compound branch": nest("int t = A[i][k]; if (t < 0) t += B[k][j]; C[i][j] += t;"),
    "wraps": nest("uint8_t t = A[i][k] + B[k][j]; C[i][j] += t;"),
    "rounds": nest("float t = D[i][j] / 3; D[i][j] = t;"),
    "truncates": nest("int t = D[i][j] / 3; D[i][j] = t + 0.5;"),
    "outer loop": "for (int i = 0; i < 4; i++) for (int k = 0; k < 6; k++) { int a = A[i][k] - 8;"
                  "for (int j = 0; j < 5; j++) C[i][j] += a * B[k][j]; }",
    "declared outside": nest("t = A[i][k] * B[k][j]; C[i][j] += t;"),
    "two readers": "for (int i = 0; i < 4; i++) for (int k = 0; k < 5; k++)"
                   "{ int a = A[i][k]; C[i][k] = a; D[i][k] = a; }",
    "iterator": nest("int t = i * 3 + k; C[i][j] += t;"),
    "one name twice": nest("int t = A[i][k]; C[i][j] += t; t = B[k][j]; D[i][j] += t;"),
    "old value": nest("int t = C[i][j]; C[i][j] = t + A[i][k];"),
}

KEPT = {   # the scalar stays
    "overwritten": nest("int t = C[i][j]; C[i][j] = A[i][k]; C[i][j] += t;"),
    "operand overwritten": nest("int t = A[i][k]; A[i][k] = 5; C[i][j] += t;"),
    "overwritten by the reader": "for (int i = 0; i < 4; i++) { int a = A[i][0];"
                                 "for (int k = 0; k < 5; k++) A[i][k] = a + k; }",
    "carried": "for (int i = 0; i < 4; i++) { int t = 0; for (int k = 0; k < 5; k++) { C[i][k] += t; t = A[i][k]; } }",
    "sum": "for (int i = 0; i < 4; i++) { int t = 0; for (int k = 0; k < 5; k++) t += A[i][k]; C[i][0] = t; }",
    "sometimes written": "for (int i = 0; i < 4; i++) { int t = 7; for (int k = 0; k < 5; k++) {"
                         "if (k > 2) t = A[i][k]; C[i][k] = t; } }",
    "written by data": "for (int i = 0; i < 4; i++) { int t = 7; for (int k = 0; k < 5; k++) {"
                       "if (A[i][k] > 0) t = A[i][k]; C[i][k] = t; } }",
    "costly twice": nest("double t = sqrt(D[i][j]); D[i][j] = t * t + A[i][k];"),
    "costly in an inner loop": "for (int i = 0; i < 4; i++) { int t = A[i][1] / 3;"
                               "for (int j = 0; j < 5; j++) C[i][j] += t; }",
    "last value": "for (int i = 0; i < 4; i++) { for (int k = 0; k < 5; k++) t = A[i][k]; C[i][0] = t; }",
}


BRANCHES = {
    "if (A[i][k] > C[i][j]) C[i][j] = A[i][k];": False,
    "if (A[i][k] > 3) C[i][j] = A[i][k];": False,   # would write where nothing was written
    "if (C[i][j] > 3) { C[i][j] = A[i][k]; D[i][j] = 1; }": False,
    "if (C[i][j] > 3) C[i][j] = A[i][k]; else D[i][j] = 1;": False,
    "if (C[i][j] > 3) { C[i][j] = A[i][k]; C[i][j] += 1; }": False,
    "if (A[i][k] > 3) { if (C[i][j] < 2) C[i][j] = 1; }": False,
    "if (C[i][j] > 3 && A[i][k] > 3) C[i][j] = A[i][k];": False,   # the element may be read-only
    "if (A[i][k] > 3 && C[i][j] > 3) C[i][j] = A[i][k];": False,   # the element may not exist
    "if (A[i][k] > 3 || C[i][j] > 3) C[i][j] = A[i][k];": False,
    "if (A[i][k] > 3) C[i][j] = A[i][k]; else C[i][j] = B[k][j];": True,
    "if (A[i][k] > 3) { if (B[k][j] < 2) C[i][j] = 1; else C[i][j] -= 2; } else C[i][j] = 3;": True,
    "if (A[i][k] > 3) { if (B[k][j] < 2) C[i][j] = 1; } else C[i][j] = 3;": False,
    "if (A[i][k] > 3) D[i][j] = A[i][k]; else D[i][j] = D[i][j] / 2;": True,
}
LONG = nest("int t = A[i][k];" + "".join(f"if (t > {90 - n}) t = {80 - n};" for n in range(9)) + "C[i][j] += t;")


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scop]:
    """All programs by name, from one file."""
    bodies = {**REPLACED, **KEPT, **{b: nest(b) for b in BRANCHES}, "long": LONG}
    functions = [f"""void f{at}(int32_t C[4][5], int32_t A[4][6], int8_t B[6][5], double D[4][5]) {{
{"int t;" if name in ("declared outside", "last value") else ""}
#pragma scop
{body}
#pragma endscop
}}
""" for at, (name, body) in enumerate(bodies.items())]
    path = tmp_path_factory.mktemp("programs") / "all.c"
    path.write_text("#include <stdint.h>\n#include <math.h>\n" + "".join(functions))
    return dict(zip(bodies, all_from_c_file(str(path)), strict=True))


@pytest.mark.parametrize("name", REPLACED)
def test_replaced(name: str, programs: dict[str, Scop]) -> None:
    scop = programs[name]
    changed = substitute_temporaries(analyse(scop)).scop
    assert not any(a.is_temporary for a in changed.arrays), [str(s.body) for s in changed.statements]
    assert len(changed.statements) == sum(not a.is_temporary for s in scop.statements for a in
                                          [scop.array(s.writes[0].array)])
    same_results(scop, changed)


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str, programs: dict[str, Scop]) -> None:
    scop = programs[name]
    changed = substitute_temporaries(analyse(scop)).scop
    assert any(a.is_temporary for a in changed.arrays)
    same_results(scop, changed)


def test_chains_of_choices_stop_growing(programs: dict[str, Scop]) -> None:
    scop = programs["long"]
    changed = substitute_temporaries(analyse(scop)).scop
    assert 1 < len(changed.statements) < len(scop.statements)
    same_results(scop, changed)


@pytest.mark.parametrize("body", BRANCHES)
def test_branches(body: str, programs: dict[str, Scop]) -> None:
    scop = programs[body]
    changed = without_branches(scop)
    assert (changed is not scop) == BRANCHES[body]
    same_results(scop, changed)
