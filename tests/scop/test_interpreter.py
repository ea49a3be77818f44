"""The reference interpreter: C's arithmetic, order, bounds, and its refusals."""

from __future__ import annotations

import math

import islpy as isl
import numpy as np
import pytest

from polysched.errors import InconsistentScopError, UndefinedBehaviourError, UsageError
from polysched.scop.body import (
    Assign,
    Binary,
    BodyStatement,
    Call,
    Cast,
    Expr,
    If,
    IteratorRef,
    Literal,
    Load,
    ParameterRef,
    Select,
    Unary,
    While,
)
from polysched.scop.dtypes import (
    BFLOAT16,
    BY_NAME,
    FLOAT16,
    FLOAT32,
    FLOAT64,
    INT8,
    INT16,
    INT32,
    INT64,
    LONGDOUBLE,
    UINT8,
    UINT32,
    DType,
)
from polysched.scop.interpreter import execute
from polysched.scop.scop import Access, AccessKind, Array, Parameter, Scop, Statement, Storage


def integer(value: int, dtype: DType = INT32) -> Literal:
    return Literal(str(value), value, dtype)


def number(value: float, dtype: DType = FLOAT64) -> Literal:
    return Literal(repr(value), value, dtype)


def array(name: str, dtype: DType, *extents: str | None, storage: Storage = Storage.ARGUMENT) -> Array:
    sizes = tuple(None if e is None else isl.PwAff(f"[N] -> {{ [({e})] }}") for e in extents)
    return Array(name=name, dtype=dtype, extents=sizes, storage=storage)


def access(reference: str, relation: str, *, write: bool = False, exact: bool = True,
           subscripts: tuple[Expr, ...] = ()) -> Access:
    as_map = isl.Map(relation)
    kind = AccessKind.MUST_WRITE if write and exact else AccessKind.MAY_WRITE if write else AccessKind.READ
    return Access(reference=reference, array=as_map.get_tuple_name(isl.dim_type.out), kind=kind, relation=as_map,
                  subscripts=subscripts, exact=exact)


def scop(arrays: tuple[Array, ...], body: tuple[BodyStatement, ...], accesses: tuple[Access, ...],
         domain: str = "[N] -> { S0[] }") -> Scop:
    """One statement; its schedule is lexicographic order."""
    points = isl.Set(domain)
    depth = points.dim(isl.dim_type.set)
    names = ", ".join(points.get_dim_name(isl.dim_type.set, d) for d in range(depth))
    parts = "".join(f', child: {{ schedule: "[N] -> [{{ S0[{names}] -> [{n}] }}]"' for n in names.split(", ") if n)
    schedule = isl.Schedule(f'{{ domain: "{domain}"{parts}{"}" * (depth + 1)}')
    return Scop(name="f", context=isl.Set("[N] -> { : N >= 0 }"), parameters=(Parameter("N", INT32),), arrays=arrays,
                statements=(Statement(name="S0", line=7, domain=points, body=body, accesses=accesses),),
                schedule=schedule)


def evaluate(value: Expr, dtype: DType, *, n: int = 4, loads: dict[str, tuple[DType, object]] | None = None,
             op: str | None = None, old: object = 0, **options) -> object:
    """Execute `x (op)= value` and give x."""
    loads = loads or {}
    arrays = (array("x", dtype), *(array(name, kind) for name, (kind, _) in loads.items()))
    accesses = [access("w", "[N] -> { S0[] -> x[] }", write=True)]
    accesses += [access(name, f"[N] -> {{ S0[] -> {name}[] }}") for name in loads]
    if op:
        accesses.append(access("old", "[N] -> { S0[] -> x[] }"))
    storage = np.uint16 if dtype == BFLOAT16 else dtype.name
    x = np.array(old, dtype=storage)
    execute(scop(arrays, (Assign("w", value, dtype, op, "old" if op else None),), tuple(accesses)), {"N": n},
            {"x": x, **{name: given for name, (_, given) in loads.items()}}, **options)
    return x[()]


@pytest.mark.parametrize(("op", "left", "right", "dtype", "expected"), [
    ("/", -7, 2, INT32, -3), ("%", -7, 2, INT32, -1), ("/", 7, -2, INT32, -3), ("%", 7, -2, INT32, 1),
    ("+", 2**32 - 1, 1, UINT32, 0), ("-", 0, 1, UINT32, 2**32 - 1), ("*", 2**31, 2, UINT32, 0),
    ("<<", 1, 31, UINT32, 2**31), (">>", -8, 1, INT32, -4), ("&", 12, 10, INT32, 8), ("|", 12, 10, INT32, 14),
    ("^", 12, 10, INT32, 6), ("*", 2**31, 2, INT64, 2**32),
])
def test_integer_arithmetic_is_that_of_c(op: str, left: int, right: int, dtype: DType, expected: int) -> None:
    assert evaluate(Binary(op, integer(left, dtype), integer(right, dtype), dtype), dtype) == expected


@pytest.mark.parametrize(("dtype", "value", "expected"), [
    (UINT8, 300, 44), (INT8, 200, -56), (INT16, 40000, -25536), (UINT32, -1, 2**32 - 1),
    (BY_NAME["bool"], 2, True), (BY_NAME["bool"], 0, False),
])
def test_storing_an_int_wraps_to_the_element_type(dtype: DType, value: int, expected: int) -> None:
    assert evaluate(integer(value), dtype) == expected


def test_narrow_operands_are_promoted_before_a_compound_assignment_wraps() -> None:
    assert evaluate(integer(200, UINT8), UINT8, op="+", old=100) == 44
    assert evaluate(integer(3), UINT8, op="/", old=200) == 66
    assert evaluate(number(0.5), INT32, op="*", old=7) == 3, "7 * 0.5 in double, then truncated"
    assert evaluate(integer(1), UINT8, op="<<", old=200) == 144


def test_comparison_is_in_the_common_type() -> None:
    assert evaluate(Binary("<", integer(-1), integer(1, UINT32), INT32), INT32) == 0
    assert evaluate(Binary("<", integer(-1), integer(1, UINT8), INT32), INT32) == 1


def test_float32_arithmetic_stays_float32() -> None:
    third = Binary("/", number(1.0, FLOAT32), number(3.0, FLOAT32), FLOAT32)
    got = evaluate(Binary("*", third, number(3.1, FLOAT32), FLOAT32), FLOAT64)
    assert got == float(np.float32(1) / np.float32(3) * np.float32(3.1))
    assert got != (1 / 3) * 3.1


@pytest.mark.parametrize("op", ["+", "-", "*", "/"])
@pytest.mark.parametrize("dtype", [FLOAT16, FLOAT32, LONGDOUBLE])
def test_rounding_of_every_float_operation(dtype: DType, op: str) -> None:
    random = np.random.default_rng(3)
    for left, right in random.uniform(-100, 100, (40, 2)):
        a, b = np.array(left, dtype.name), np.array(right, dtype.name)
        expected = {"+": a + b, "-": a - b, "*": a * b, "/": a / b}[op]
        expr = Binary(op, Load("a", dtype), Load("b", dtype), dtype)
        assert evaluate(expr, dtype, loads={"a": (dtype, a), "b": (dtype, b)}) == expected


@pytest.mark.parametrize(("value", "bits"), [
    (1.0, 0x3F80), (1.00390625, 0x3F80), (1.01171875, 0x3F82), (-2.0, 0xC000), (3.4e38, 0x7F80), (1e-45, 0),
    (1e-40, 0x0001), (math.inf, 0x7F80), (3.14159, 0x4049),
])
def test_bfloat16_rounds_to_nearest_even(value: float, bits: int) -> None:
    assert evaluate(Cast(number(value), BFLOAT16), BFLOAT16) == bits


def test_bfloat16_is_read_from_its_bits() -> None:
    assert evaluate(Cast(Load("a", BFLOAT16), FLOAT64), FLOAT64,
                    loads={"a": (BFLOAT16, np.array(0x4049, np.uint16))}) == 3.140625


def test_float_division_by_zero_is_ieee() -> None:
    def quotient(left: float, right: float) -> object:
        return evaluate(Binary("/", number(left), number(right), FLOAT64), FLOAT64)
    assert quotient(1.0, 0.0) == math.inf
    assert quotient(1.0, -0.0) == -math.inf
    assert math.isnan(quotient(0.0, 0.0))


@pytest.mark.parametrize(("name", "arguments", "expected"), [
    ("sqrt", (2.0,), math.sqrt(2.0)), ("exp", (710.0,), math.inf), ("pow", (2.0, 0.5), math.sqrt(2)),
    ("fmax", (1.0, 2.0), 2.0), ("fabs", (-3.0,), 3.0), ("floor", (-1.5,), -2.0), ("ceil", (1.5,), 2.0),
    ("log", (0.0,), -math.inf), ("__builtin_inf", (), math.inf), ("fmod", (7.5, 2.0), 1.5),
])
def test_math_functions(name: str, arguments: tuple[float, ...], expected: float) -> None:
    assert evaluate(Call(name, tuple(map(number, arguments)), FLOAT64), FLOAT64) == expected


def test_a_float_function_computes_in_float() -> None:
    got = evaluate(Call("sqrtf", (number(2.0, FLOAT32),), FLOAT32), FLOAT64)
    assert got == float(np.sqrt(np.float32(2)))
    assert evaluate(Call("abs", (integer(-3),), INT32), INT32) == 3
    assert evaluate(Call("sqrtl", (number(2.0, LONGDOUBLE),), LONGDOUBLE), LONGDOUBLE) == np.sqrt(np.longdouble(2))


@pytest.mark.parametrize(("left", "right", "quotient", "rest"), [(-7, 2, -4, 1), (7, -2, -4, -1), (7, 2, 3, 1)])
def test_division_of_python_integers(left: int, right: int, quotient: int, rest: int) -> None:
    operands = (integer(left, INT64), integer(right, INT64))
    assert evaluate(Call("floordiv", operands, INT64), INT64) == quotient
    assert evaluate(Call("floormod", operands, INT64), INT64) == rest


def test_a_user_gives_the_meaning_of_other_functions() -> None:
    twice = Call("twice", (integer(21),), INT32)
    assert evaluate(twice, INT32, functions={"twice": lambda v: 2 * v}) == 42
    with pytest.raises(UsageError, match=r"does not know the function twice\n  hint: pass its meaning"):
        evaluate(twice, INT32)


def test_the_side_not_chosen_is_not_evaluated() -> None:
    fault = Binary("/", integer(1), integer(0), INT32)
    assert evaluate(Select(integer(1), integer(5), fault, INT32), INT32) == 5
    assert evaluate(Binary("&&", integer(0), fault, INT32), INT32) == 0
    assert evaluate(Binary("||", integer(2), fault, INT32), INT32) == 1


def test_unary_operators() -> None:
    assert evaluate(Unary("-", integer(1, UINT32), UINT32), UINT32) == 2**32 - 1
    assert evaluate(Unary("~", integer(5), INT32), INT32) == -6
    assert evaluate(Unary("!", number(0.0), INT32), INT32) == 1
    assert evaluate(Unary("-", number(2.5), FLOAT64), FLOAT64) == -2.5


def test_parameters_are_numbers_too() -> None:
    assert evaluate(Binary("*", Cast(ParameterRef("N", INT32), FLOAT64), number(0.5), FLOAT64), FLOAT64, n=7) == 3.5


@pytest.mark.parametrize(("expr", "problem"), [
    (Binary("/", integer(1), integer(0), INT32), r"integer division 1 / 0"),
    (Binary("+", integer(2**31 - 1), integer(1), INT32), r"signed overflow in int32: 2147483647 \+ 1"),
    (Binary("<<", integer(1), integer(32), INT32), r"shift of int32 by 32"),
    (Cast(number(3e9), INT32), r"conversion of 3000000000.0 to int32 is out of range"),
    (Cast(Binary("/", number(0.0), number(0.0), FLOAT64), INT32), r"conversion of nan to int32"),
])
def test_undefined_behaviour_is_refused_with_the_instance(expr: Expr, problem: str) -> None:
    with pytest.raises(UndefinedBehaviourError, match=rf"f:7: {problem}\n  witness: S0\[\]"):
        evaluate(expr, INT32)


def test_signed_overflow_wraps_on_request() -> None:
    overflow = Binary("+", integer(2**31 - 1), integer(1), INT32)
    assert evaluate(overflow, INT32, wrap_signed=True) == -2**31


def prefix_sum(*, last: str = "N") -> Scop:
    """for (i = 1; i < last; i++) A[i] = A[i] + A[i - 1];"""
    i = IteratorRef("i", INT32)
    domain = f"[N] -> {{ S0[i] : 1 <= i < {last} }}"
    accesses = (access("w", "{ S0[i] -> A[i] }", write=True, subscripts=(i,)),
                access("r0", "{ S0[i] -> A[i] }", subscripts=(i,)),
                access("r1", "{ S0[i] -> A[i - 1] }", subscripts=(Binary("-", i, integer(1), INT32),)))
    value = Binary("+", Load("r0", INT64), Load("r1", INT64), INT64)
    confined = tuple(Access(reference=a.reference, array=a.array, kind=a.kind, subscripts=a.subscripts,
                            relation=a.relation.intersect_domain(isl.Set(domain))) for a in accesses)
    return scop((array("A", INT64, "N"),), (Assign("w", value, INT64),), confined, domain)


def test_instances_run_in_the_order_of_the_schedule() -> None:
    data, seen = np.arange(6), []
    execute(prefix_sum(), {"N": 6}, {"A": data}, trace=lambda name, point: seen.append((name, point)))
    assert data.tolist() == [0, 1, 3, 6, 10, 15]
    assert seen == [("S0", (i,)) for i in range(1, 6)]


def test_another_tree_gives_another_order() -> None:
    program, data = prefix_sum(), np.arange(6)
    backwards = isl.Schedule('{ domain: "[N] -> { S0[i] : 1 <= i < N }", child: { schedule: '
                             '"[N] -> [{ S0[i] -> [-i] }]" } }')
    execute(program, {"N": 6}, {"A": data}, tree=backwards)
    assert data.tolist() == [0, 1, 3, 5, 7, 9]


def test_unordered_instances_run_in_reverse_so_that_a_lost_dependence_shows() -> None:
    data = np.arange(6)
    unordered = isl.Schedule('{ domain: "[N] -> { S0[i] : 1 <= i < N }" }')
    execute(prefix_sum(), {"N": 6}, {"A": data}, tree=unordered)
    assert data.tolist() == [0, 1, 3, 5, 7, 9]


def test_an_index_outside_the_array_is_refused() -> None:
    with pytest.raises(UndefinedBehaviourError,
                       match=r"f:7: A\[4\] is outside the array of extents \[4\]\n  witness: S0\[4\]"):
        execute(prefix_sum(last="N + 1"), {"N": 4}, {"A": np.arange(4)})


def test_parameters_outside_the_context_are_refused() -> None:
    with pytest.raises(UsageError, match=r"outside the context of f\n  witness: \{'N': -1\}\n  hint: the context is"):
        execute(prefix_sum(), {"N": -1}, {"A": np.arange(0)})
    with pytest.raises(UsageError, match=r"the parameter N has no value\n  hint: give N a number"):
        execute(prefix_sum(), {}, {"A": np.arange(0)})


@pytest.mark.parametrize(("arrays", "problem"), [
    ({}, r"the array A is missing"),
    ({"A": np.zeros(5)}, r"A has elements of type float64, the Scop has int64"),
    ({"A": np.zeros(4, np.int64)}, r"A has the shape \(4,\), the Scop has \(5,\)"),
    ({"A": np.zeros((5, 1), np.int64)}, r"A has the shape \(5, 1\), the Scop has \(5,\)"),
])
def test_arrays_that_do_not_fit_are_refused(arrays: dict[str, np.ndarray], problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        execute(prefix_sum(), {"N": 5}, arrays)


def test_a_written_scalar_given_as_a_number_is_refused() -> None:
    body = (Assign("w", integer(1), INT32),)
    program = scop((array("x", INT32),), body, (access("w", "[N] -> { S0[] -> x[] }", write=True),))
    with pytest.raises(UsageError, match=r"x is written, but the caller's array is read-only\n  hint: pass a writable"):
        execute(program, {"N": 1}, {"x": 3})


def test_a_local_array_is_allocated_and_reading_it_unwritten_is_refused() -> None:
    local = array("t", INT32, "N", storage=Storage.LOCAL)
    read = (Assign("w", Load("r", INT32), INT32),)
    program = scop((array("x", INT32), local), read, (access("w", "[N] -> { S0[] -> x[] }", write=True),
                                                      access("r", "[N] -> { S0[] -> t[2] }")))
    with pytest.raises(UndefinedBehaviourError, match=r"t\[2\] is read before it is written\n  witness: S0\[\]"):
        execute(program, {"N": 3}, {"x": np.zeros((), np.int32)})


def test_a_flat_array_serves_for_a_delinearised_one() -> None:
    i, j = IteratorRef("i", INT32), IteratorRef("j", INT32)
    linear = (Binary("+", Binary("*", i, ParameterRef("N", INT32), INT32), j, INT32),)
    domain = "[N] -> { S0[i, j] : 0 <= i < N and 0 <= j < N }"
    write = access("w", "[N] -> { S0[i, j] -> A[i, j] : 0 <= i < N and 0 <= j < N }", write=True, subscripts=linear)
    program = scop((array("A", INT32, None, "N"),), (Assign("w", linear[0], INT32),), (write,), domain)
    data = np.zeros(9, np.int32)
    execute(program, {"N": 3}, {"A": data})
    assert data.tolist() == list(range(9))


def test_conditions_and_while_inside_a_body() -> None:
    x, store = Load("x", INT32), Assign("w", Binary("-", Load("x", INT32), integer(3), INT32), INT32)
    body: tuple[BodyStatement, ...] = (
        While(Binary(">", x, integer(5), INT32), (store,)),
        If(Binary("==", x, integer(5), INT32), (Assign("w", integer(50), INT32),), (Assign("w", integer(40), INT32),)))
    accesses = (access("w", "[N] -> { S0[] -> x[] }", write=True), access("x", "[N] -> { S0[] -> x[] }"))
    for start, expected in ((11, 50), (12, 40), (2, 40)):
        data = np.array(start, np.int32)
        execute(scop((array("x", INT32),), body, accesses), {"N": 0}, {"x": data})
        assert data == expected


def test_a_while_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polysched.scop.interpreter.MOST_ITERATIONS_OF_A_WHILE", 10)
    accesses = (access("w", "[N] -> { S0[] -> x[] }", write=True),)
    program = scop((array("x", INT32),), (While(integer(1), (Assign("w", integer(1), INT32),)),), accesses)
    with pytest.raises(UndefinedBehaviourError, match="a while loop did not end after 10 iterations"):
        execute(program, {"N": 0}, {"x": np.zeros((), np.int32)})


def scatter(relation: str, *, exact: bool) -> Scop:
    """for (i = 0; i < N; i++) A[index[i]] = i;"""
    i = IteratorRef("i", INT32)
    domain = "[N] -> { S0[i] : 0 <= i < N }"
    accesses = (access("w", relation, write=True, exact=exact, subscripts=(Load("r", INT32),)),
                access("r", "[N] -> { S0[i] -> index[i] : 0 <= i < N }", subscripts=(i,)))
    return scop((array("A", INT32, "N"), array("index", INT32, "N")), (Assign("w", i, INT32),), accesses, domain)


def test_an_inexact_access_follows_its_subscripts() -> None:
    data = np.full(3, -1, np.int32)
    execute(scatter("[N] -> { S0[i] -> A[o] : 0 <= i < N and 0 <= o < N }", exact=False), {"N": 3},
            {"A": data, "index": np.array([2, 0, 2], np.int32)})
    assert data.tolist() == [1, -1, 2]


@pytest.mark.parametrize(("relation", "exact"), [
    ("[N] -> { S0[i] -> A[o] : 0 <= i < N and 0 <= o < i }", False),
    ("[N] -> { S0[i] -> A[i] : 0 <= i < N }", True),
])
def test_a_relation_that_misses_an_element_is_refused(relation: str, exact: bool) -> None:
    with pytest.raises(InconsistentScopError,
                       match=r"w: the subscripts reach A\[2\], the relation does not\n  witness: S0\[0\]"):
        execute(scatter(relation, exact=exact), {"N": 3},
                {"A": np.zeros(3, np.int32), "index": np.array([2, 0, 2], np.int32)})


def test_an_unbounded_domain_is_refused() -> None:
    write = access("w", "{ S0[i] -> x[] }", write=True)
    program = scop((array("x", INT32),), (Assign("w", integer(1), INT32),), (write,), "[N] -> { S0[i] : i >= 0 }")
    with pytest.raises(UsageError, match="infinitely many points at these parameters"):
        execute(program, {"N": 1}, {"x": np.zeros((), np.int32)})
