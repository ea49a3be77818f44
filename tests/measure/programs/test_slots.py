"""From a function's signature and regions to the memory that a call needs."""

from collections.abc import Callable, Mapping

import pytest

from polysched.errors import UsageError
from polysched.measure.processes.call_interface import Origin, Slot
from polysched.measure.programs.problem_size import choose_size
from polysched.measure.programs.slots import check_memory, make_slots, slot_bytes
from polysched.scop import all_from_c_text


def slots_of(text: str, given: Mapping[str, int] | None = None,
             is_global: Callable[[str], bool] = lambda name: True) -> dict[str, Slot]:
    scops = all_from_c_text(text)
    source = scops[0].source
    assert source is not None
    assert source.signature is not None
    size = choose_size(scops, given or {})
    return {s.name: s for s in make_slots(scops, source.signature, size, given=given or {}, is_global=is_global)}


def function(parameters: str, body: str, before: str = "", result: str = "void") -> str:
    return f"{before}\n{result} f({parameters})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"


FILL = "for (int i = 0; i < n; i++) A[i] = x;"


def test_arguments_come_in_order_with_types_and_shapes() -> None:
    slots = slots_of(function("int n, float x, double A[n][4], const short B[4]",
                              "for (int i = 0; i < n; i++) for (int j = 0; j < 4; j++) A[i][j] = x * B[j];"), {"n": 9})
    assert list(slots) == ["n", "x", "A", "B"]
    assert (slots["n"].value, slots["n"].is_array) == (9, False)
    assert (slots["x"].dtype.name, slots["x"].value, slots["x"].is_array) == ("float32", None, False)
    assert (slots["A"].shape, slots["A"].dtype.name) == ((9, 4), "float64")
    assert (slots["B"].shape, slots["B"].dtype.name) == ((4,), "int16")
    assert all(s.origin is Origin.ARGUMENT for s in slots.values())


def test_a_pointer_gets_what_is_reached() -> None:
    assert slots_of(function("int n, double x, double *A", FILL.replace("A[i]", "A[2 * i + 1]")), {"n": 10})[
        "A"].shape == (20,)


def test_an_array_that_no_region_touches_has_its_declared_shape() -> None:
    slots = slots_of(function("int n, double x, double A[n], int q, double other[2 * n][q]", FILL), {"n": 10, "q": 3})
    assert slots["other"].shape == (20, 3)
    assert slots["q"].value == 3


def test_an_unknown_extent_is_refused() -> None:
    with pytest.raises(UsageError, match=r"how many elements the parameter `double \*\w+` has is not known"):
        slots_of(function("int n, double x, double A[n], double *other", FILL), {"n": 10})


def test_a_size_from_out_of_sight_is_refused() -> None:
    text = ("int get(void);\nvoid f(double *A) {\n  int n = get();\n#pragma scop\n"
            "for (int i = 0; i < n; i++) A[i] = 0;\n#pragma endscop\n}\n")
    with pytest.raises(UsageError, match="the size `n` is computed inside f"):
        slots_of(text, is_global=lambda name: False)


@pytest.mark.parametrize("before", ["n = n * 2; {", "if (m > 3) { n = m; } {", "{ next(&n);", "m++; { int n = m * m;",
                                    "while (m++ < 2) {"])
def test_a_size_that_the_function_changes_before_the_region_is_refused(before: str) -> None:
    text = f"""
void next(int *);
void f(int n, int m, double *x) {{
  {before}
#pragma scop
  for (int i = 0; i < n; i++) x[i] += 1;
#pragma endscop
  if (m > 5) n = 2;
  }}
}}"""
    with pytest.raises(UsageError, match="the size `n` is computed inside f"):
        slots_of(text)
    assert slots_of(text.replace(before, "{"))["n"].origin is Origin.ARGUMENT


def test_a_size_that_the_function_sets_is_known() -> None:
    text = ("void f(int n, double *A) {\n  int most = 3 * n;\n#pragma scop\n"
            "for (int i = 0; i < most; i++) A[i] = 0;\n#pragma endscop\n}\n")
    slots = slots_of(text, {"n": 4})
    assert slots["n"].value == 4
    assert slots["A"].shape == (12,)


def test_file_scope_variables_are_found() -> None:
    text = function("void", "for (int i = 0; i < SIZE; i++) { A[i] = x; P[i] = x; }",
                    before="int SIZE; double A[50]; double *P; double x;")
    slots = slots_of(text)
    assert {n: (s.origin, s.shape) for n, s in slots.items()} == {
        "SIZE": (Origin.GLOBAL, ()), "A": (Origin.GLOBAL, (50,)), "P": (Origin.POINTER, (50,)),
        "x": (Origin.GLOBAL, ())}
    assert slots["SIZE"].value == 50


def test_locals_of_the_function_are_not_touched() -> None:
    text = function("int n, double A[n]", "for (int i = 0; i < n; i++) { t += A[i]; A[i] = t; }").replace(
        "#pragma scop", "double t = 0;\n#pragma scop")
    assert list(slots_of(text, {"n": 5}, is_global=lambda name: False)) == ["n", "A"]


@pytest.mark.parametrize(("result", "dtype"), [
    ("double", "float64"), ("static inline float", "float32"), ("unsigned", "uint32"), ("void", None),
    ("const int", "int32")])
def test_a_number_that_is_returned_is_compared(result: str, dtype: str | None) -> None:
    slots = slots_of(function("int n, double x, double A[n]", FILL, result=result), {"n": 5})
    assert (slots["return value"].dtype.name if "return value" in slots else None) == dtype


def test_subscript_arrays_are_bounded_by_what_they_index() -> None:
    slots = slots_of(function("int n, double A[30], int index[n]", "for (int i = 0; i < n; i++) A[index[i]] += 1;"),
                     {"n": 100})
    assert slots["index"].index_extent == 30
    assert slots["A"].index_extent is None


def test_a_size_that_does_not_fit_its_type_is_refused() -> None:
    text = function("signed char n, double x, double A[200]", FILL)
    with pytest.raises(UsageError, match=r"does not fit the type|contradict"):
        slots_of(text, {"n": 150})


def test_arrays_that_do_not_fit_into_memory_are_refused() -> None:
    slots = tuple(slots_of(function("int n, double x, double A[n][n]",
                                    "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = x;"),
                           {"n": 1024}).values())
    assert slot_bytes(slots) == 8 * 1024**2 + 8 + 4
    check_memory(slots, 64 << 20)
    with pytest.raises(UsageError, match=r"the arrays take 0\.0 GiB") as refusal:
        check_memory(slots, 16 << 20)
    assert refusal.value.witness == "A has 1024 x 1024 elements of type float64"


def test_sizes_that_stand_in_memory_are_set_there() -> None:
    body = "for (int i = 0; i < dims[2]; i++) for (int j = 0; j < *m; j++) A[i][j] = x;"
    slots = slots_of(function("double x, int *dims, const int *m, double A[][50]", body), {"dims[2]": 30})
    assert slots["dims"].shape == (3,)
    assert slots["dims"].elements == (((2,), 30),)
    assert slots["m"].shape == (1,)
    assert slots["m"].elements == (((0,), 50),)
    assert slots["A"].shape == (30, 50)


def test_sizes_in_file_scope_variables_are_set_behind_what_they_are_in() -> None:
    body = "for (int i = 0; i < size[1]; i++) A[i] = size[1] + grid.n; for (int i = 0; i < grid.n; i++) A[i] += 1;"
    slots = slots_of(function("void", body, before="static int size[2]; struct { int n; } grid; double A[50];"))
    assert [n for n, s in slots.items() if not s.is_array][-2:] == ["size[1]", "grid.n"]
    assert list(slots).index("size") < list(slots).index("size[1]")
    assert slots["size[1]"].value == slots["grid.n"].value == 50


@pytest.mark.parametrize(("parameters", "size"), [("int k, int dims[9]", "dims[k]"), ("int n", "hidden->n")])
def test_a_size_that_only_a_caller_can_set_up_is_refused(parameters: str, size: str) -> None:
    body = f"for (int i = 0; i < {size}; i++) A[i] = 0;"
    with pytest.raises(UsageError, match="that only a caller of f can set up"):
        slots_of(function(parameters, body, before="struct g { int n; } *hidden; double A[50];"))
