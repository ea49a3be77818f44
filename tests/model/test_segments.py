"""Where graphs are cut."""

from __future__ import annotations

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, load
from polysched.model.island import Island
from polysched.model.segments import segments
from tests.model.models import model, value
from tests.model.test_segmented_model import node, nonzero, top, twice


def shape_of(graph: object) -> list[str]:
    return ["island" if isinstance(p, Island) else " ".join(n.op for n in p.nodes)
            for p in segments(graph).parts]   # type: ignore[arg-type]


def test_segments_stand_around_an_island() -> None:
    assert shape_of(load(nonzero())) == ["Relu", "island", "Transpose GatherND Exp"]


def test_an_island_that_feeds_an_island_through_a_segment() -> None:
    assert shape_of(load(twice())) == ["island", "Cast Relu", "island", "Cast Neg"]


def test_a_graph_that_is_compiled_is_one_segment() -> None:
    assert shape_of(from_text("graph f(x: float32[4]) {\n  let y = Relu(x)\n  return y\n}")) == ["Relu"]


def test_an_operand_that_follows_from_an_open_size_makes_no_island() -> None:
    nodes = [node("Shape", ["x"], ["s"]), node("Expand", ["one", "s"], ["e"]), node("Add", ["x", "e"], ["a"]),
             node("NonZero", ["a"], ["y"])]
    proto = model(nodes, [value("x", ["N"])], [value("y", [1, "k"])], one=np.ones(1, np.float32))
    assert shape_of(load(proto)) == ["Shape Expand Add", "island"]


def test_what_no_output_needs_is_in_no_part() -> None:
    nodes = [node("NonZero", ["x"], ["nz"]), node("Relu", ["x"], ["y"])]
    assert shape_of(load(model(nodes, [value("x", [4])], [value("y", [4])]))) == ["Relu"]


def test_the_extents_of_an_island_are_symbols_behind_it() -> None:
    behind = segments(load(top())).parts[-1]
    assert [str(t) for _, t in behind.inputs] == ["float32[v_0, v_1]"]   # type: ignore[union-attr]


def test_an_extent_that_no_input_says_is_a_symbol_of_its_own() -> None:
    nodes = [node("NonZero", ["x"], ["a"]), node("NonZero", ["w"], ["b"]), node("Concat", ["a", "b"], ["c"], axis=1),
             node("Unique", ["x"], ["u"]), node("Cast", ["c"], ["f"], to=1), node("Neg", ["f"], ["y"]),
             node("Neg", ["u"], ["z"])]
    proto = model(nodes, [value("x", [4]), value("w", [3])], [value("y", [1, "k"]), value("z", ["l"])])
    assert shape_of(load(proto)) == ["island", "island", "island", "Concat Cast Neg Neg"]


def test_a_value_of_no_known_type_is_refused_where_no_runtime_takes_it() -> None:
    graph = from_text("graph f(x: float32[4]) {\n  let y = Wibble(x)\n  return y\n}")
    with pytest.raises(UnsupportedGraphError, match="there is no operator Wibble"):
        segments(graph)


def test_constants_are_in_the_segments_that_use_them() -> None:
    nodes = [node("Add", ["x", "c"], ["a"]), node("NonZero", ["a"], ["nz"]), node("Neg", ["nz"], ["y"])]
    cut = segments(load(model(nodes, [value("x", [4])], [value("y", [1, "k"], "i")], c=np.ones(4, np.float32))))
    assert [list(p.constants) for p in cut.parts] == [["c"], [], []]
