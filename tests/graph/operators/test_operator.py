"""Sites: axes, operands, and what they refuse."""

import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Node, Size, TensorType
from polysched.graph.operators.operator import Kind, Operator, Site, broadcast, one_type
from polysched.scop.dtypes import FLOAT32, INT64


def site(*types: TensorType | None) -> Site:
    names = tuple(f"x{p}" for p in range(len(types)))
    return Site(node=Node.of("Add", names, ("y",), {"axis": 1}), inputs=types, known=(None,) * len(types))


N = Size.symbol("N")
A, B = TensorType.of(FLOAT32, (N, 1, 4)), TensorType.of(FLOAT32, (3, 1))


def test_shapes_broadcast_as_in_numpy() -> None:
    assert broadcast(site(A, B), [A, B]) == (N, 3, 4)
    with pytest.raises(UnsupportedGraphError, match="do not broadcast"):
        broadcast(site(A, B), [A, TensorType.of(FLOAT32, (3, 5))])


def test_axes_are_counted_from_both_ends() -> None:
    assert site(A).axes((0, -1)) == (0, 2)
    with pytest.raises(UnsupportedGraphError, match="axis 3 of 3 dimensions"):
        site(A).axis(3)
    with pytest.raises(UnsupportedGraphError, match="occurs twice"):
        site(A).axes((0, -3))


def test_operands_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UnsupportedGraphError, match="different element types"):
        one_type(site(A, TensorType.of(INT64, ())), (0, 1))
    with pytest.raises(UnsupportedGraphError, match="operand 1 is missing"):
        site(A).type(1)
    with pytest.raises(UnsupportedGraphError, match="operand 0 decides about shapes and is not known"):
        site(A).value(0)


def test_a_refusal_quotes_the_start_of_what_is_long() -> None:
    site = Site(node=Node.of("Exp", ("x",), ("y",)), inputs=(), known=())
    refusal = site.refusal("a" * 10 ** 6, 0, witness="b" * 10 ** 6)
    assert len(str(refusal)) < 1000
    assert site.refusal("short", 0, witness="too").witness == "too"


def test_an_operator_is_compiled_in_one_way() -> None:
    with pytest.raises(ValueError, match="two ways"):
        Operator(name="Odd", kind=Kind.OPAQUE, types=lambda s: (), reference=lambda s: (), view=True,
                 element=lambda s, x: x)
