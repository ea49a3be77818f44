"""Codes of narrow floats: by whole numbers, beside ml_dtypes."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import Graph, Node, TensorType, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.families.narrow import decoded
from polysched.graph.planning.expressions import scop_of
from polysched.graph.values.element_types import NARROW, NarrowType, array_type
from polysched.scop.interpreter import execute

pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
FLOATS = [t for t in NARROW if t.is_float]
EDGES = np.array([0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 448, 464, 465, -480, 57344, 61440, 65536, 6, 7, 0.25,
                  1e-45, 2.0**-127, 1.5 * 2.0**-127, 2.0**-126, 0.75 * 2.0**-9, 2.0**-10, 3e38, 1.5, -1.5, 0.7, 0.75],
                 np.float32)


@pytest.mark.parametrize("own", FLOATS, ids=str)
def test_every_code_has_its_value(own: NarrowType) -> None:
    codes = (np.arange(256) & ((1 << own.width) - 1)).astype(np.uint8)
    np.testing.assert_array_equal(decoded(own), codes.view(array_type(own)).astype(np.float32))


def codes_by_arithmetic(bits: np.ndarray, to: str, **attributes: int | str) -> tuple[np.ndarray, np.ndarray]:
    """What the expression makes of bits of floats, and what ml_dtypes does."""
    graph = Graph(name="g", inputs=(("b", TensorType.of_array(bits)),), outputs=("y",), nodes=(
        Node.of("NarrowCode", ("b",), ("y",), {"to": to, **attributes}),))
    wanted = interpret(graph, {"b": bits})["y"]
    scop, found = scop_of(graph), np.zeros_like(wanted)
    execute(scop, {}, dict(zip([a.name for a in scop.arrays], (bits, found), strict=True)))
    return found, wanted


@pytest.mark.parametrize("own", FLOATS, ids=str)
@pytest.mark.parametrize("saturate", [0, 1])
def test_floats_become_the_nearest_code(own: NarrowType, saturate: int) -> None:
    rng = np.random.default_rng(3)
    drawn = (rng.normal(size=60) * np.exp(3 * rng.normal(size=60))).astype(np.float32)
    ties = np.unique(np.nan_to_num(decoded(own)))
    between = ((ties[1:].astype(np.float64) + ties[:-1]) / 2).astype(np.float32)[:80]
    found, wanted = codes_by_arithmetic(np.concatenate([EDGES, drawn, between]).view(np.uint32), own.name,
                                        saturate=saturate)
    np.testing.assert_array_equal(found, wanted)


def test_a_double_is_rounded_once() -> None:
    above = 464 * (1 + 2.0 ** -40)   # float32 has 464 there, which is rounded to 448
    found, wanted = codes_by_arithmetic(np.array([above, 464.0]).view(np.uint64), "float8_e4m3fn", saturate=0)
    assert found.tolist() == [0x7F, 0x7E]
    assert np.isnan(wanted.view(array_type(FLOATS[0])).astype(np.float32)[0])


@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_powers_of_two_by_rounding_mode(mode: str) -> None:
    found, wanted = codes_by_arithmetic(EDGES.view(np.uint32), "float8_e8m0fnu", round_mode=mode)
    np.testing.assert_array_equal(found, wanted)
    one_and_a_half = found[list(EDGES).index(1.5)]
    assert one_and_a_half == {"up": 128, "down": 127, "nearest": 128}[mode]


@pytest.mark.parametrize(("dtype", "to"), [("float32", "float8_e5m2"), ("uint32", "float32"), ("uint32", "int4"),
                                           ("uint64", "float8_e8m0fnu")])
def test_other_types_are_refused(dtype: str, to: str) -> None:
    graph = Graph(name="g", inputs=(("b", TensorType.of_array(np.zeros(2, dtype))),), outputs=("y",), nodes=(
        Node.of("NarrowCode", ("b",), ("y",), {"to": to}),))
    with pytest.raises(UnsupportedGraphError, match="the bits of floats"):
        infer(graph)
