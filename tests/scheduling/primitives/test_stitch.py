"""Several stages in one loop over tiles compute bit for bit what the source does; else they are refused."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.errors import IllegalScheduleError, UsageError
from polysched.pipeline.files import optimize
from polysched.pipeline.options import PipelineOptions
from polysched.scheduling import steps
from polysched.scheduling.primitives import Stitch, loops
from polysched.scheduling.tree.loop_tree import from_isl
from polysched.scop.interpreter import execute
from polysched.search.as_functions import function_of
from tests.emit_c.compiled import load
from tests.scheduling.primitives import stitched_programs as programs
from tests.scheduling.primitives.changed_programs import BLUR, as_written, run

CASES = {
    "layer_norm": (programs.LAYER_NORM, Stitch(dominant="S4", sizes=(8,)),
                   lambda n, m: ((n, m), (m,), (m,), (n, m)), ((1, 1), (7, 33), (8, 31), (9, 8), (17, 5))),
    "blur": (programs.BLUR, Stitch(dominant="S1", sizes=(16, 32)), lambda n, m: ((n, m), (n, m)),
             ((2, 3), (3, 3), (16, 35), (19, 34), (40, 70))),
    "softmax": (programs.SOFTMAX, Stitch(dominant="S5", sizes=(4,)), lambda n, m: ((n, m), (n, m)),
                ((1, 1), (4, 33), (7, 9))),
    "two_layers": (programs.TWO, Stitch(dominant="S4", sizes=(12,)),
                   lambda n, k, m, o: ((n, k), (k, m), (m, o), (n, o)),
                   ((25, 5, 17, 9), (3, 31, 6, 16), (12, 8, 8, 8))),
    "attention": (programs.ATTENTION, Stitch(dominant="S9", sizes=(12,)), lambda n, d: ((n, d),) * 4,
                  ((25, 8), (3, 31), (12, 16))),
}


def written(text: str, folder: Path) -> Path:
    path = folder / "program.c"
    path.write_text(text)
    return path


@pytest.mark.parametrize(("name", "scheduler"), [("layer_norm", "original"), ("blur", "original"),
                                                 ("softmax", "original"), ("two_layers", "pluto"),
                                                 ("attention", "original")])
def test_stitched_programs_compute_what_the_source_computes(name, scheduler, tmp_path):
    text, step, shapes, sizes = CASES[name]
    made = optimize(written(text, tmp_path), PipelineOptions(scheduler=scheduler, steps=(step,), math="libm"))
    tiles = loops(steps.loop_tree(made.tiled.tree))[0]
    assert set(tiles.statements) == {s.name for s in made.scop.statements}   # one loop around everything
    assert made.source.text.count("#pragma omp parallel for") >= 1
    expected = load(text, tmp_path, strict=False)[name]
    function = function_of(made, name="stitched")
    got = load(function.text, tmp_path, strict=False).stitched
    names = [parameter.name for parameter in made.scop.source.signature.parameters]
    order = [names.index(parameter.name) for parameter in function.signature.parameters]
    for size in sizes:
        chance = np.random.default_rng(1)
        arrays = [chance.standard_normal(shape).astype(np.float32) for shape in shapes(*size)]
        results = []
        for called, places in ((expected, range(len(names))), (got, order)):
            own = [a.copy() for a in arrays]
            arguments = [*size, *(ctypes.c_void_p(a.ctypes.data) for a in own)]
            called(*(arguments[place] for place in places))
            results.append([a.tobytes() for a in own])
        assert results[0] == results[1], f"{name} {size}\n{made.source.text}"


def test_values_of_a_tile_stand_in_memory_of_a_tile(tmp_path):
    made = optimize(written(programs.BLUR, tmp_path), PipelineOptions(
        scheduler="original", steps=(CASES["blur"][1],)))
    assert "float t[18][32]" in made.source.text


@pytest.mark.parametrize("size", [1, 2, 4, 5, 8, 13])
def test_overlapping_images_are_computed_again(size):
    before = as_written(BLUR)
    stitched = steps.apply(before, Stitch(dominant="S1", sizes=(4,)))
    assert stitched.scop.statement("S0").depth == 2
    assert stitched.scop.array("tmp").extents[0] is not None
    np.testing.assert_array_equal(run(stitched, size), run(before, size))


def test_recomputation_beyond_a_share_is_refused():
    with pytest.raises(UsageError, match=r"tiles of S1 compute 100% of S0 again"):
        steps.apply(as_written(BLUR), Stitch(dominant="S1", sizes=(1,)))
    assert steps.apply(as_written(BLUR), Stitch(dominant="S1", sizes=(1,), most_again=100)).steps


def test_results_that_tiles_would_share_are_refused():
    text = BLUR.replace("double tmp[n];", "").replace("double out[n])", "double out[n], double tmp[n])")
    with pytest.raises(UsageError, match="several tiles would compute 'tmp', which is read after the region"):
        steps.apply(as_written(text), Stitch(dominant="S1", sizes=(4,)))


def test_overwritten_inputs_are_refused():
    text = BLUR.replace("out[j] = tmp[j] + tmp[j + 1];", "in[j + 1] = tmp[j] + tmp[j + 1];")
    with pytest.raises(IllegalScheduleError, match="S0_r0 would read another value of 'in'"):
        steps.apply(as_written(text), Stitch(dominant="S1", sizes=(4,)))


RESULTS = """
void f(int n, double x[n], double y[n], double z[n]) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 2.0 * x[i];
  for (int i = 0; i < n / 2; i++)
    z[i] = y[2 * i] + 1.0;
#pragma endscop
}
"""


def values(schedule, text_size):
    arrays = {"x": np.arange(1.0, text_size + 1), "y": np.zeros(text_size), "z": np.zeros(text_size)}
    execute(schedule.scop, {"n": text_size}, arrays, tree=schedule.tree)
    return arrays["y"].tolist(), arrays["z"].tolist()


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 16])
def test_results_that_no_tile_needs_are_computed_before(size):
    before = as_written(RESULTS)
    stitched = steps.apply(before, Stitch(dominant="S1", sizes=(4,)))
    assert len(loops(steps.loop_tree(stitched.tree))) == 4   # the rest of y, tiles, y in a tile, z
    assert values(stitched, size) == values(before, size)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 16])
def test_temporaries_that_no_tile_needs_are_not_computed(size):
    text = RESULTS.replace("double y[n], ", "").replace("#pragma scop", "#pragma scop\n  double y[n];")
    before = as_written(text)
    stitched = steps.apply(before, Stitch(dominant="S1", sizes=(4,)))
    assert len(loops(steps.loop_tree(stitched.tree))) == 3
    assert values(stitched, size)[1] == values(before, size)[1]


CHAIN = """
void f(int n, double x[n], double y[n], double z[n]) {
#pragma scop
  double a[n], b[n];
  double s;
  s = 0.0;
  for (int i = 0; i < n; i++)
    s += x[i];
  for (int i = 0; i < n; i++)
    a[i] = x[i] / s;
  for (int i = 0; i < n; i++)
    b[i] = a[i] * 2.0;
  for (int i = 0; i < n; i++)
    y[i] = b[i] + 1.0;
  for (int i = 0; i < n; i++)
    z[i] = y[i] + y[n - 1 - i];
#pragma endscop
}
"""


@pytest.mark.parametrize("size", [1, 2, 4, 9])
@pytest.mark.parametrize("producers", [("S2",), ("S2", "S3")])
def test_named_producers_alone_run_in_the_tiles(producers, size):
    before = as_written(CHAIN)
    stitched = steps.apply(before, Stitch(dominant="S3" if len(producers) == 1 else "S4", sizes=(4,),
                                          producers=producers))
    assert values(stitched, size) == values(before, size)


@pytest.mark.parametrize("size", [1, 2, 4, 9])
def test_statements_behind_run_in_the_tile_that_they_read_from(size):
    before = as_written(CHAIN)
    with pytest.raises(UsageError, match="again"):   # the sum would run in every tile
        steps.apply(before, Stitch(dominant="S2", sizes=(4,)))
    stitched = steps.apply(before, Stitch(dominant="S2", sizes=(4,), most_again=10 ** 6))
    tiles = next(loop for loop in loops(steps.loop_tree(stitched.tree)) if len(loop.statements) > 1)
    assert set(tiles.statements) == {"S0", "S1", "S2", "S3", "S4"}   # S5 reads from two tiles
    assert values(stitched, size) == values(before, size)


@pytest.mark.parametrize(("step", "message"), [
    (Stitch(dominant="S9", sizes=(4,)), "no statement 'S9'"),
    (Stitch(dominant="S1", sizes=(4, 4)), "2 tile sizes for S1, which stands in 1 loops"),
    (Stitch(dominant="S1", sizes=()), "0 tile sizes"),
    (Stitch(dominant="S1", sizes=(0,)), "a tile size is at least 1"),
    (Stitch(dominant="S0", sizes=(4,), producers=("S1",)), "S0 needs no value of S1"),
])
def test_what_has_no_meaning_is_refused(step, message):
    with pytest.raises(UsageError, match=message):
        steps.apply(as_written(BLUR), step)


def test_a_step_is_stored_and_replayed():
    before = as_written(BLUR)
    done = steps.apply(before, Stitch(dominant="S1", sizes=(4,)))
    again = steps.replay(before, [step.to_json() for step in done.steps])
    assert again.tree.to_str() == done.tree.to_str()


def test_bands_inside_of_a_tile_stay_whole():
    before = as_written(programs.TWO)
    made = steps.apply(before, Stitch(dominant="S4", sizes=(12,)))
    assert from_isl(made.tree).root.mark is not None
