"""What operators of this family refuse."""

import numpy as np
import pytest

from polysched.errors import UnsupportedGraphError
from polysched.graph import from_text, interpret
from polysched.graph.evaluation.inference import infer
from polysched.graph.operators.registry import OPERATORS
from polysched.graph.passes.expansion import expand_compositions
from polysched.graph.passes.registry import standard
from tests.graph.samples import Sample, floats, graph_of, ints, sample


@pytest.mark.parametrize(("case", "problem"), [
    (sample("Resize", floats(3, 2)), "neither scales nor sizes"),
    (sample("Resize", ints(3, 2), None, floats(2, low=1), mode="linear"), "elements of int32 between others"),
    (sample("Resize", floats(3, 2), None, floats(1, low=1)), "a scale or a size per axis"),
    (sample("Resize", floats(3, 0), None, None, np.array([3, 2])), "nothing is resized to something"),
    (sample("Resize", floats(3, 2), floats(3), None, np.array([3, 2])), "a start and an end per axis"),
    (sample("Upsample", ints(3, 2), floats(2, low=1), mode="linear"), "elements of int32 between others"),
    (sample("Upsample", floats(3, 2), np.array([0, 1], np.float32)), "a positive scale"),
    (sample("Upsample", floats(3, 2), np.array([np.nan, 1], np.float32)), "a positive scale"),
    (sample("Resize", floats(3, 2), None, np.array([np.inf, 1], np.float32)), "a scale is not finite"),
    (sample("Resize", floats(3, 2), None, np.array([1, np.nan], np.float32)), "a scale is not finite"),
])
def test_it_is_refused(case: Sample, problem: str) -> None:
    graph, _ = graph_of(case, OPERATORS[case[0]].steering)
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        infer(graph)
    assert f"node 'y0' ({case[0]})" in str(refusal.value)


def test_a_place_whose_neighbours_are_all_outside_is_outside() -> None:
    graph = from_text("""graph f(x: float32[1, 3]) {
  const r: float32[4] = [0.0, -0.5, 1.0, 1.0]
  const s: int64[2] = [1, 4]
  let y = Resize(x, r, _, s; mode="cubic", coordinate_transformation_mode="tf_crop_and_resize",
    exclude_outside=1, extrapolation_value=9.0)
  return y
}""")
    assert interpret(graph, {"x": np.arange(3, dtype=np.float32)[None]})["y"].tolist() == [[9, 0, 1, 2]]


@pytest.mark.parametrize(("extent", "how"), [(10 ** 7, ""), (4, ', mode="linear", antialias=1')])
def test_more_neighbours_than_are_weighed_one_by_one_are_refused(extent: int, how: str) -> None:
    data, scale = (4, extent / 4) if extent > 4 else (10 ** 8, 4 / 10 ** 8)
    graph = from_text(f"""graph f(x: float32[{data}]) {{
  const s: float32[1] = [{scale}]
  let y = Resize(x, _, s; nearest_mode="floor"{how})
  return y
}}""")
    with pytest.raises(UnsupportedGraphError, match="an axis has very many elements to be resized"):
        standard(graph)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("place", ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
                                   "asymmetric"])
@pytest.mark.parametrize(("scales", "sizes"), [([2.0, 1.5], ""), ([0.5, 3.0], ""), (None, "sizes")])
def test_open_extents_are_resized_as_fixed_ones(mode: str, place: str, scales: list[float] | None, sizes: str) -> None:
    """By scales, and to the extents of another value; with the rounding of every place."""
    named = "s" if scales else "_, sizes"
    graph = from_text(f"""graph f(x: float32[B, N, M], z: float32[K, 7]) {{
  const s: float32[2] = {scales or [1.0, 1.0]}
  let sizes = Shape(z)
  let y = Resize(x, _, {named}; axes=[1, 2], mode="{mode}", coordinate_transformation_mode="{place}",
    nearest_mode="floor")
  return y
}}""")
    made = expand_compositions(graph)
    for shape, rows in (((2, 1, 1), 3), ((1, 3, 4), 1), ((1, 7, 5), 13)):
        given = {"x": np.random.default_rng(0).normal(size=shape).astype(np.float32),
                 "z": np.zeros((rows, 7), np.float32)}
        found, wanted = interpret(made, given)["y"], interpret(graph, given)["y"]
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_the_scale_that_an_open_size_cannot_have_is_named() -> None:
    graph = from_text("""graph f(x: float32[N]) {
  const s: float32[1] = [1.1]
  let y = Upsample(x, s)
  return y
}""")
    with pytest.raises(UnsupportedGraphError, match=r"node 'y' \(Upsample\), operand 1 's': an open size times 1.1"):
        infer(graph)


CROPPED = """graph f(x: float32[N, 4]) {{
  const r: float32[4] = [{}, 0.0, 1.0, 0.5]
  const s: float32[2] = [1.0, 1.0]
  let y = Resize(x, r, s; mode="linear", coordinate_transformation_mode="tf_crop_and_resize")
  return y
}}"""


def test_an_open_extent_of_which_a_part_is_taken_is_refused_and_a_whole_one_stays() -> None:
    with pytest.raises(UnsupportedGraphError, match="tf_crop_and_resize over an open size"):
        expand_compositions(from_text(CROPPED.format(0.5)))
    graph, x = from_text(CROPPED.format(0.0)), np.arange(12, dtype=np.float32).reshape(3, 4)
    made = interpret(expand_compositions(graph), {"x": x})["y"]
    np.testing.assert_allclose(made, interpret(graph, {"x": x})["y"], rtol=1e-6)
    np.testing.assert_allclose(made[0], [0, 0.5, 1, 1.5], rtol=1e-6)


@pytest.mark.parametrize("extent", ["4", "N"])
def test_places_that_do_not_lie_beside_a_nan_are_numbers(extent: str) -> None:
    graph = from_text(f"""graph f(x: float32[{extent}]) {{
  const s: float32[1] = [2.0]
  let y = Resize(x, _, s; mode="linear", coordinate_transformation_mode="asymmetric")
  return y
}}""")
    for made in (graph, expand_compositions(graph)):
        found = interpret(made, {"x": np.array([np.nan, 1, 2, 3], np.float32)})["y"]
        np.testing.assert_array_equal(found, [np.nan, np.nan, 1, 1.5, 2, 2.5, 3, 3])


@pytest.mark.parametrize(("attributes", "scale", "problem"), [
    ('mode="linear", antialias=1', 0.5, "antialias over an open size"),
    ('mode="cubic", exclude_outside=1', 2.0, "exclude_outside over an open size"),
    ('coordinate_transformation_mode="tf_crop_and_resize"', 2.0, "tf_crop_and_resize over an open size"),
    ('mode="linear"', 1.1, "an open size times 1.1"), ('mode="linear"', 0.0, "a scale is not positive")])
def test_what_is_not_had_over_an_open_size_is_refused(attributes: str, scale: float, problem: str) -> None:
    graph = from_text(f"""graph f(x: float32[N]) {{
  const s: float32[1] = [{scale}]
  let y = Resize(x, _, s; {attributes})
  return y
}}""")
    with pytest.raises(UnsupportedGraphError, match=problem) as refusal:
        expand_compositions(graph)
    assert "node 'y' (Resize)" in str(refusal.value)
