"""Which accesses stay in rows that an array of row starts delimits."""

from __future__ import annotations

import pytest

from polysched.dependence import analyse
from polysched.scop import from_c_text
from polysched.scop.construction.rows_in_order import in_one_row, with_rows_in_order
from polysched.scop.scop import ROWS_IN_ORDER, Scop

HEAD = ("void f(int n, int *restrict p, int *restrict q, double *restrict v, double *restrict w, int *restrict c,\n"
        "       double *restrict d, long *restrict big, unsigned long *restrict huge)")
EACH, ROW = "for (int i = 0; i < n; i++)", "for (int k = p[i]; k < p[i + 1]; k++)"
"""What EACH and ROW stand for in the programs."""

IN_ROWS = {
    "scaled": ("EACH ROW v[k] *= d[i];", {"v"}),
    "two arrays": ("EACH ROW { v[k] = w[k]; w[k] = d[c[k]]; }",
                   {"v", "w"}),
    "a condition": ("EACH ROW if (c[k] != i) v[k] = 0;",
                    {"v"}),
    "two loops": ("EACH { double s = 0; ROW { v[k] = d[i]; s += w[k]; }"
                  " d[i] = s; }\nEACH ROW v[k] += 1;", {"v"}),
    "other rows": ("for (int i = 1; 3 * i < n; i++) for (int k = p[3 * i - 1]; k < p[3 * i]; k++) v[k] = d[i];", {"v"}),
    "long starts": ("EACH for (long k = big[i]; k < big[i + 1]; k += 2) v[k] = 1;", {"v"}),
}
ELSEWHERE = {
    "the next row but one": "EACH for (int k = p[i]; k < p[i + 2]; k++) v[k] *= d[i];",
    "rows of another array": "EACH for (int k = p[i]; k < q[i + 1]; k++) v[k] *= d[i];",
    "the end belongs to the row": "EACH for (int k = p[i]; k <= p[i + 1]; k++) v[k] *= d[i];",
    "the element before": "EACH ROW v[k - 1] *= d[i];",
    "an element by data": "EACH ROW v[c[k]] += d[i];",
    "read elsewhere, too": "EACH ROW v[k] += v[c[k]];",
    "read by number": "EACH { d[i] = v[i]; ROW v[k] = 2; }",
    "starts that change": "EACH ROW { v[k] = 1; p[i + 1] = k; }",
    "a counter that jumps": "EACH ROW { k = 2 * k; v[k] = 1; }",
    "behind the step": "EACH { int k = p[i]; while (k < p[i + 1]) { k += 1; v[k] = d[i]; } }",
    "starts of two arrays": "EACH ROW v[k] *= d[i];\n"
                            "EACH for (int k = q[i]; k < q[i + 1]; k++) v[k] *= d[i];",
    "starts that are too large": "EACH for (unsigned long k = huge[i]; k < huge[i + 1]; k++)"
                                 " v[k] = 1;",
    "starts that are cut off": "EACH for (short k = p[i]; k < p[i + 1]; k++) v[k] = 1;",
    "downwards": "EACH for (int k = p[i + 1] - 1; k >= p[i]; k--) v[k] = 1;",
}


def read(body: str) -> Scop:
    loops = body.replace("EACH", EACH).replace("ROW", ROW)
    return from_c_text(f"{HEAD}\n{{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n")


def carried(scop: Scop, array: str) -> bool:
    """Whether two iterations of the outermost loop touch one element, for all that is known."""
    for pair in analyse(scop).pairs:
        if pair.array == array and pair.source == pair.sink and not pair.relation.is_empty():
            return True
    return False


@pytest.mark.parametrize("name", IN_ROWS)
def test_rows_keep_dependences_inside(name: str) -> None:
    body, arrays = IN_ROWS[name]
    scop = read(body)
    made = with_rows_in_order(scop)
    assert made is not None
    found = [a for a in made.assumptions if a.kind == ROWS_IN_ORDER]
    assert {a.text.split(" ")[3] for a in found} == arrays
    for array in arrays:
        assert carried(scop, array)
        assert not carried(made, array)


@pytest.mark.parametrize("name", ELSEWHERE)
def test_other_accesses_may_be_anywhere(name: str) -> None:
    assert with_rows_in_order(read(ELSEWHERE[name])) is None


def test_references_that_are_gone_are_in_no_row() -> None:
    made = with_rows_in_order(read(IN_ROWS["scaled"][0]))
    assert made is not None
    rows = in_one_row(made)
    assert len(rows) == 2
    assert all(str(relation.range().get_tuple_name()) == "p" for relation in rows.values())
    assert not in_one_row(read(IN_ROWS["scaled"][0]))
