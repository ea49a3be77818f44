"""Straight-line text as values before the block: run on symbols, and beside what the same lines do in Python."""

from __future__ import annotations

import random

import numpy as np
import pytest

from polysched.errors import SourceSyntaxError
from polysched.scop.body import Binary, Cast, Literal, Load
from polysched.scop.dtypes import FLOAT32, INT8, INT32
from polysched.tensorize.description.blocks import blocks_of, dimension, is_zero, stages_of, without_zero
from polysched.tensorize.description.contraction_value import evaluate_contraction
from polysched.tensorize.description.derivation import derive
from polysched.tensorize.description.reading import parse
from polysched.tensorize.description.semantics import Loop

LOOP = "for (int i = 0; i < 4; i++) "


def stages(body: str) -> list[list[str]]:
    """Per stage the elements that it writes."""
    made, _ = stages_of(blocks_of(parse(f"void f(int32_t Y[8], int32_t Z[8], const int16_t X[8]) {{ {body} }}")))
    return [[str(r.output) for r in s.results] for s in made]


def test_a_local_that_only_carries_a_value_disappears() -> None:
    assert stages(LOOP + "{ int32_t t = X[i]; t = t * t; Y[i] = t; Z[i] = t + 1; }") == [["Y[i]", "Z[i]"]]


def test_a_local_that_a_loop_reads_is_an_array_of_the_loops_around() -> None:
    body = LOOP + "{ int32_t t = 0; for (int k = 0; k < 2; k++) t += X[2*i + k]; Y[i] = t; }"
    semantics = parse(f"void f(int32_t Y[8], int32_t Z[8], const int16_t X[8]) {{ {body} }}")
    made, own = stages_of(blocks_of(semantics))
    assert [[str(r.output) for r in s.results] for s in made] == [["t[i]"], ["t[i]"], ["Y[i]"]]
    assert [(v.name, v.shape) for v in own] == [("t", (4,))]
    assert [d.name for d in made[1].dimensions] == ["i", "k"]


@pytest.mark.parametrize(("body", "wanted"), [
    ("{ Y[i] = X[i]; Z[i] = Y[i]; }", [["Y[i]", "Z[i]"]]),
    ("{ Y[i] = X[i]; Z[i] = Y[7 - i]; }", [["Y[i]"], ["Z[i]"]]),
    ("{ Y[2*i] = X[i]; Y[2*i + 1] = X[i]; }", [["Y[2*i]", "Y[2*i + 1]"]]),
    ("{ Y[i] = 1; Y[0] = X[i]; }", [["Y[i]"], ["Y[0]"]])])
def test_a_block_ends_where_an_element_may_have_a_second_name(body: str, wanted: list[list[str]]) -> None:
    assert stages(LOOP + body) == wanted


def test_a_local_without_a_value_is_refused_where_it_is_read() -> None:
    with pytest.raises(SourceSyntaxError, match="a local is read before it has a value"):
        blocks_of(parse(f"void f(int32_t Y[8]) {{ {LOOP}{{ int32_t t; Y[i] = t; }} }}"))


@pytest.mark.parametrize("seed", range(12))
def test_random_lines_do_what_they_do_one_after_the_other(seed: int) -> None:
    """Narrow locals wrap where they are assigned, whatever reads them later."""
    chooser = random.Random(seed)
    names = ["s", "t", "u"]
    lines = ["int8_t s = X[i]; int32_t t = Z[i]; int16_t u = 0;"]
    python = ["s, t, u = np.int8(X[i]), Z[i], np.int16(0)"]
    for _ in range(8):
        target = chooser.choice([*names, "Y[i]", "Z[i]"])
        left, right = (chooser.choice([*names, "X[i]", "Z[i]", "Y[i]", "3"]) for _ in range(2))
        op = chooser.choice("+-*^")
        kind = {"s": "int8", "t": "int32", "u": "int16"}.get(target, "int32")
        lines.append(f"{target} = {left} {op} {right};")
        python.append(f"{target} = cut(int({left}) {op} int({right}), '{kind}')")
    text = f"void f(int32_t Y[4], int32_t Z[4], const int8_t X[4]) {{ {LOOP}{{ {' '.join(lines)} }} }}"
    semantics = parse(text)
    draw = np.random.default_rng(seed)
    y, z, x = (draw.integers(-100, 100, 4).astype(t) for t in ("int32", "int32", "int8"))
    found = evaluate_contraction(semantics, derive(semantics), {"Y": y[None], "Z": z[None], "X": x[None]})
    mine = {"Y": y.copy(), "Z": z.copy(), "X": x, "np": np,
            "cut": lambda v, kind: np.array(v % (1 << np.iinfo(kind).bits), "uint64").astype(kind)}
    for i in range(4):
        exec("\n".join(python), mine | {"i": i})
    for name, values in found.items():
        np.testing.assert_array_equal(values[0], mine[name], err_msg=text)


def test_zero_is_neutral_for_integers_alone() -> None:
    x, zero = Load("x", INT8), Literal("0", 0, INT32)
    assert without_zero(Binary("+", zero, Cast(x, INT32), INT32)) == Cast(x, INT32)
    assert without_zero(Binary("+", x, zero, INT32)) == Cast(x, INT32)
    floats = Binary("+", Load("f", FLOAT32), Literal("0", 0.0, FLOAT32), FLOAT32)
    assert without_zero(floats) is floats
    product = Binary("*", Cast(x, INT32), zero, INT32)
    assert without_zero(product) is product
    assert is_zero(Cast(Cast(zero, INT8), INT32))
    assert not is_zero(x)


def test_the_order_of_a_loops_iterations_is_no_part_of_its_dimension() -> None:
    assert dimension(Loop("i", 4, False, ())) == dimension(Loop("i", 4, True, ()))
