"""Integers in memory as parameters: which are, what is assumed for it, and that the guard tests what is assumed."""

import ctypes

import islpy as isl
import numpy as np
import pytest

from polysched.errors import UnsupportedScopError
from polysched.pipeline import PipelineOptions, transform_file
from polysched.scop import from_c_text
from tests.scop.c_frontend.compiled_c import compile_library

HEAD = """struct grid { int n, size[3]; double *x, *y; };
static int size[3], changed[3];
static const int fixed[2] = {7, 9};
static double u[100][100];
"""


def scop_of(parameters, body, outside=""):
    return from_c_text(f"{HEAD}{outside}\nvoid f({parameters}) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n")


def spellings(scop):
    return {p.spelling for p in scop.parameters}


@pytest.mark.parametrize(("parameters", "first", "second", "found"), [
    ("void", "size[0]", "size[2]", {"size[0]", "size[2]"}),
    ("int *n, int *m", "*n", "*m", {"n[0]", "m[0]"}),
    ("int dims[], int k", "dims[0]", "dims[k]", {"dims[0]", "dims[k]", "k"}),
    ("struct grid g", "g.n", "g.size[1]", {"g.n", "g.size[1]"}),
    ("struct grid *g", "g->n", "(*g).size[2]", {"g->n", "g[0].size[2]"}),
    ("struct grid g[4]", "g[1].n", "g[2].n", {"g[1].n", "g[2].n"}),
])
def test_bounds_in_memory_are_parameters(parameters, first, second, found):
    scop = scop_of(parameters, f"for (int i = 0; i < {first}; i++) for (int j = 0; j < {second}; j++) u[i][j] *= 2;")
    assert spellings(scop) == found
    assert scop.statements[0].depth == 2


def test_elements_of_a_constant_array_are_their_values():
    scop = scop_of("void", "for (int i = 0; i < fixed[0]; i++) for (int j = 0; j < fixed[1]; j++) u[i][j] *= 2;")
    assert not scop.parameters
    assert scop.statements[0].domain.is_equal(isl.Set("{ S0[i, j] : 0 <= i < 7 and 0 <= j < 9 }"))


@pytest.mark.parametrize("bound", ["changed[0]", "size[changed[1]]", "size[i]"])
def test_what_the_region_may_change_is_none(bound):
    scop = scop_of("void", f"for (int i = 0; i < 3; i++) {{ changed[i] = i; "
                           f"for (int j = 0; j < {bound}; j++) u[i][j] *= 2; }}")
    assert not scop.parameters


def test_members_behind_several_pointers():
    body = "for (int i = 0; i < 3; i++) {{ {} for (int j = 0; j < g->inner->n; j++) u[i][j] *= 2; }}"
    outside = "struct inner { int n; }; struct outer { struct inner *inner; };"
    assert spellings(scop_of("struct outer *g", body.format(""), outside=outside)) == {"g->inner->n"}
    assert not spellings(scop_of("struct outer *g", body.format("g->inner->n = 3;"), outside=outside))


def test_a_pointer_that_is_set_by_a_member():
    """A member is not the variable that has its name, and the pointer keeps the member's value where it was set."""
    body = "for (int i = 0; i < n; i++) {{ double *row = u[0] + g->n; {} row[i] = 1; }}"
    assert spellings(scop_of("int n, struct grid *g", body.format(""))) == {"n", "g->n"}
    with pytest.raises(UnsupportedScopError, match="depends on a member that is no integer or changes"):
        scop_of("int n, struct grid *g", body.format("g->n += 2;"))


def kinds(scop):
    return [a.kind for a in scop.assumptions]


def test_memory_that_is_read_in_any_case_needs_no_assumption():
    assert "readable" not in kinds(scop_of("int *n", "for (int i = 0; i < *n; i++) u[i][0] *= 2;"))
    assert "readable" not in kinds(scop_of(
        "struct grid *g", "for (int i = 0; i < g->n; i++) for (int j = 0; j < g->size[0]; j++) u[i][j] *= 2;"))
    assert "readable" not in kinds(scop_of(
        "int n", "for (int i = 0; i < n; i++) for (int j = 0; j < size[0]; j++) u[i][j] *= 2;"))


@pytest.mark.parametrize(("parameters", "element"), [("int n, int *m", "*m"), ("int n, int m[]", "m[1]"),
                                                     ("int n", "size[n]"), ("int n, struct grid *g", "g->n")])
def test_memory_that_is_read_on_a_condition_has_to_be_readable(parameters, element):
    scop = scop_of(parameters, f"for (int i = 0; i < n; i++) for (int j = 0; j < {element}; j++) u[i][j] *= 2;")
    (assumption,) = [a for a in scop.assumptions if a.kind == "readable"]
    assert assumption.condition == "(long)n >= 1"


def test_that_memory_has_to_be_readable_does_not_depend_on_what_is_read():
    """The `break` ends the loop at a value, which no test of whether there is one can look at."""
    scop = scop_of("int n, int *m", "for (int i = 0; i < n; i++) { u[i][0] *= 2; if (*m == 4) break; }")
    (assumption,) = [a for a in scop.assumptions if a.kind == "readable"]
    assert assumption.condition == "(long)n >= 1"


@pytest.mark.parametrize("body", [
    "if (u[i][0] > 0) u[i][*m] = 1;",
    "if (u[i][0] > 0 && *m > 3) u[i][1] = 1;",
    "if (u[i][0] > 0 && u[i][*m] > 0) u[i][1] = 1;",
    "u[i][1] = u[i][0] > 0 ? u[i][*m] : 1;",
    "int k = 5; while (k < u[i][0]) { u[i][*m] = 1; k += 1; }",
])
def test_memory_that_is_read_where_data_says_so_is_no_parameter(body):
    """Nothing reads it ahead: no bound, no subscript of an access, no test of a guard."""
    scop = scop_of("int n, int *m", f"for (int i = 0; i < n; i++) {{ {body} }}")
    assert spellings(scop) == {"n"}
    assert "readable" not in kinds(scop)


def test_memory_that_is_read_before_data_is_asked_is_a_parameter():
    body = "for (int i = 0; i < *m; i++) if (u[i][0] > 0) u[i][*m] = 1;"
    assert spellings(scop_of("int *m", body)) == {"m[0]"}


def test_writes_that_could_change_a_size_are_assumptions():
    def assumed(parameters, body):
        return [a.text for a in scop_of(parameters, body).assumptions if "does not change" in a.text]

    assert assumed("int *n, int *x", "for (int i = 0; i < *n; i++) x[i] = 1;") == ["writing x does not change n[0]"]
    assert assumed("int *n", "for (int i = 0; i < *n; i++) changed[i] = 1;") == ["writing changed does not change n[0]"]
    assert not assumed("int *n", "for (int i = 0; i < *n; i++) u[i][0] = 1;")
    assert not assumed("void", "for (int i = 0; i < size[0]; i++) changed[i] = 1;")


@pytest.mark.parametrize(("parameters", "left", "right"), [
    ("int n, struct grid *g", "g->x", "g->y"), ("int n, struct grid g", "g.x", "g.y"),
    ("int n, struct grid g, double *z", "g.x", "z"), ("int n, struct grid g, struct grid h", "g.x", "h.x")])
def test_arrays_behind_pointers_in_structures_may_overlap(parameters, left, right):
    scop = scop_of(parameters, f"for (int i = 1; i < n; i++) {left}[i] = {right}[i - 1] + 1;")
    assert any(a.kind == "no-alias" and "does not overlap" in a.text for a in scop.assumptions)


GUARDED = """
struct pair { double *x, *y; };
void shift(int n, struct pair p) {
  for (int i = 1; i < n; i++)
    p.x[i] = p.y[i - 1] + 1.0;
}
void rows(int *n, int *m, double *x) {
  for (int i = 0; i < *n; i++)
    for (int j = 0; j < *m; j++)
      x[i * 10 + j] = 2.0 * x[i * 10 + j];
}
void count(int *n, int *x) {
  for (int i = 0; i < *n; i++)
    x[i] = 3;
}
void chosen(int n, int *m, float *x, double *y) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0)
      y[*m] += 1;
}
"""


class Pair(ctypes.Structure):
    _fields_ = (("x", ctypes.c_void_p), ("y", ctypes.c_void_p))


def test_the_guard_tests_what_is_assumed(tmp_path):
    source = tmp_path / "found.c"
    source.write_text(GUARDED)
    result = transform_file(source, PipelineOptions(autodetect=True))
    assert [region.scop.name for region in result.regions] == ["shift", "rows", "count", "chosen"]
    library = compile_library(result.text, "guarded", tmp_path)
    values = np.zeros(50)
    library.shift(50, Pair(values.ctypes.data, values.ctypes.data))
    np.testing.assert_array_equal(values, np.arange(50))
    none, two, three = ctypes.c_int(0), ctypes.c_int(2), ctypes.c_int(3)
    values = np.ones(50)
    library.rows(ctypes.byref(none), None, values.ctypes.data_as(ctypes.c_void_p))
    assert values.sum() == 50
    library.rows(ctypes.byref(two), ctypes.byref(three), values.ctypes.data_as(ctypes.c_void_p))
    assert values.sum() == 56
    numbers = np.full(20, 10, dtype=np.int32)
    library.count(numbers.ctypes.data_as(ctypes.c_void_p), numbers.ctypes.data_as(ctypes.c_void_p))
    assert numbers.tolist() == [3] * 3 + [10] * 17
    below = np.full(8, -1, dtype=np.float32)
    library.chosen(8, None, below.ctypes.data_as(ctypes.c_void_p), values.ctypes.data_as(ctypes.c_void_p))
    assert values.sum() == 56
