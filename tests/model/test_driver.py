"""The C of a driver: loops of copies, memory, outputs that are copies."""

import ctypes
import random
from dataclasses import replace
from pathlib import Path

import numpy as np

from polysched.graph import from_text, interpret
from polysched.graph.planning.memory import Buffer, _placed, rounded
from polysched.graph.planning.plan import Plan
from polysched.graph.planning.steps import Kernel, Together
from polysched.graph.values.sizes import Size
from polysched.graph.values.types import TensorType
from polysched.model.c_sizes import FLOOR
from polysched.model.compiling import compile_graph
from polysched.model.driver import arena_function, driver_text
from polysched.model.planned import planned
from polysched.model.variants import Choice
from polysched.model.verification import random_inputs
from polysched.pipeline.options import PipelineOptions
from polysched.scop.dtypes import FLOAT32
from polysched.target import find_compiler


def test_copies_are_loops_over_linear_memory() -> None:
    plan = planned(from_text("""graph f(x: float64[2, 3]) {
      let t = Transpose(x)
      let c = Concat(t, t; axis=1)
      let y = Identity(x)
      return c, y
    }"""))
    text = driver_text(plan, {})
    assert "to[2 * l0 + l1] = from[l0 + 3 * l1];" in text
    assert "memcpy(to + 4 * l0 + 2, from + 2 * l0, 2 * sizeof *to);" in text, "rows are copied at once"
    assert "const unsigned long *restrict from = (const unsigned long *)(arena + 0);" in text
    assert "memcpy(outputs[1], inputs[0], 48);" in text


def test_the_arena_of_open_sizes_is_placed_in_c_as_in_python(tmp_path: Path) -> None:
    draw = random.Random(1)
    graph = from_text("graph f(x: float32[N, M]) {\n  let y = Exp(x)\n  return y\n}")
    base, extents = planned(graph), [Size.symbol("N"), 3 * Size.symbol("M") + 5, Size.of(40)]
    names = [f"v{n}" for n in range(25)]
    types = {n: TensorType.of(FLOAT32, (draw.choice(extents), draw.randrange(1, 60))) for n in names}
    firsts = {n: draw.randrange(20) for n in names}
    plan = replace(base, graph=base.graph.but(types=types), lives={n: (f, f + draw.randrange(6)) for n, f in
                                                                   firsts.items()})
    text = "\n".join([FLOOR, *arena_function(plan, {"N": "s0", "M": "s1"}, "")])
    (tmp_path / "arena.c").write_text(text)
    find_compiler().run(["-shared", "-fPIC", "-o", "arena.so", "arena.c"], folder=tmp_path)
    function = ctypes.CDLL(str(tmp_path / "arena.so")).polysched_model_arena
    function.restype = ctypes.c_long
    better = 0
    for n, m in ((1, 1), (7, 100), (300, 2)):
        offsets, wanted = (ctypes.c_long * 25)(), plan.arena_for({"N": n, "M": m})
        assert function((ctypes.c_long * 2)(n, m), offsets) == wanted.bytes
        assert list(offsets) == [wanted.offsets[name] for name in names]
        better += wanted.bytes < max(end for _, end, _ in placed(plan, n, m))
    assert better


def placed(plan: Plan, n: int, m: int) -> list[tuple[int, int, Buffer]]:
    """The first attempt at an arena."""
    buffers = [Buffer(name=name, bytes=int(t.elements) * 4, first=plan.lives[name][0], last=plan.lives[name][1])
               for name, t in ((v, plan.graph.types[v].bound({"N": n, "M": m})) for v in plan.lives)]
    return _placed(sorted(buffers, key=lambda b: (-rounded(b.bytes), b.first)))


THREE = from_text("""graph f(x: float32[64, 256], a: float32[256, 64], b: float32[256, 64], c: float32[256, 64]) {
  let p = MatMul(x, a)
  let q = MatMul(x, b)
  let r = MatMul(x, c)
  return p, q, r
}""")


def test_kernels_side_by_side_are_one_parallel_region() -> None:
    plan = planned(THREE, options=PipelineOptions())
    (together,) = [s for s in plan.steps if isinstance(s, Together)]
    assert (len(together.kernels), len(plan.kernels), plan.regions) == (3, 3, 1)
    symbols = {place: Choice(functions=(f"k{place}",)) for place, s in enumerate(plan.walked) if isinstance(s, Kernel)}
    text = driver_text(plan, symbols)
    region = text[text.index("#pragma omp parallel reduction(|:failed)"):text.index("if (failed) return 1;")]
    assert [line.split("(")[0].strip() for line in region.splitlines() if "|= " in line] == [
        "failed |= k1", "failed |= k2", "failed |= k3"]
    assert text.count("#pragma omp") == 1


def test_kernels_side_by_side_compute_the_graph() -> None:
    inputs = random_inputs(THREE)
    model = compile_graph(THREE, fusion="cost")
    assert model.plan.shared
    wanted = interpret(THREE, inputs)
    for name, value in model.run(inputs).items():
        np.testing.assert_allclose(value, wanted[name], rtol=1e-4, atol=1e-4)
