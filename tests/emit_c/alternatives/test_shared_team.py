"""Code that the caller's team shares: what it looks like, what it computes, what is refused."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from polysched.emit_c.alternatives.shared_team import shared_by_team
from polysched.emit_c.function import function_around
from polysched.pipeline import PipelineOptions, optimize
from polysched.scop.expression import Tensor, axis, build, compute, placeholder
from polysched.scop.expression import sum as summed
from polysched.scop.scop import Scop
from polysched.target import find_compiler

N = 4099


def scaled() -> Scop:
    x = placeholder("x", [64, N])
    return build(compute([64, N], lambda i, j: 2.0 * x[i, j], name="y"))


def two_loops() -> Scop:
    x = placeholder("x", [64, N])
    k = axis("k", 64)
    total: Tensor = compute([N], lambda j: summed(x[k, j], over=k), name="t")
    return build(compute([64, N], lambda i, j: x[i, j] - total[N - 1 - j], name="y"))


def test_the_loop_is_shared_and_nobody_waits_behind_it() -> None:
    source = optimize(scaled(), PipelineOptions()).source
    part = shared_by_team(source)
    assert part is not None
    assert "#pragma omp parallel" not in part.text
    (pragma,) = [line for line in part.text.splitlines() if "#pragma omp for" in line]
    assert pragma.endswith(" nowait")
    assert (source.teams, part.teams) == (1, 0)


def test_a_team_computes_what_one_region_does(tmp_path: Path) -> None:
    part = shared_by_team(optimize(scaled(), PipelineOptions()).source)
    assert part is not None
    function = function_around(part, name="share")
    caller = ("\nvoid call(const void *a, void *b, const void *c, void *d) {\n"
              "#pragma omp parallel num_threads(3)\n  { share(a, b); share(c, d); }\n}\n")
    (tmp_path / "k.c").write_text(function.text + caller)
    compiler = find_compiler()
    done = compiler.run(["-O2", "-march=native", "-shared", "-fPIC", *compiler.openmp_compile, "-w", "-o", "k.so",
                         "k.c", *compiler.openmp_link], folder=tmp_path)
    assert done.returncode == 0, done.stderr
    call = ctypes.CDLL(str(tmp_path / "k.so")).call
    draw = np.random.default_rng(1)
    x, z = (draw.normal(size=(64, N)).astype(np.float32) for _ in range(2))
    y, w = np.zeros_like(x), np.zeros_like(x)
    call(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y, z, w)))
    np.testing.assert_array_equal(y, 2 * x)
    np.testing.assert_array_equal(w, 2 * z)


@pytest.mark.parametrize("options", [PipelineOptions(), PipelineOptions(fusion="none")])
def test_loops_that_wait_for_each_other_are_not_shared(options: PipelineOptions) -> None:
    source = optimize(two_loops(), options).source
    assert source.teams != 1 or shared_by_team(source) is None


def test_code_on_one_thread_is_not_shared() -> None:
    assert shared_by_team(optimize(scaled(), PipelineOptions(parallel=False)).source) is None
