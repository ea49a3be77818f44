"""Codes of one kernel for several sizes: chosen by predicted times, and right on both sides of every border."""

import numpy as np
import pytest

import polysched
from polysched.graph import from_text, interpret
from polysched.model.driver import driver_text
from polysched.model.variants import Candidate, Choice, choose
from polysched.pipeline import PipelineOptions
from polysched.target import Target
from polysched.tiling import TilingOptions

SIZES = (1, 4, 16, 64)


def candidate(name: str, likely: int, seconds: tuple[float, ...], digest: str = "") -> Candidate:
    return Candidate(function=name, likely=likely, digest=digest or name,
                     seconds=dict(zip(SIZES, seconds, strict=False)))


def test_the_border_is_where_the_predicted_times_cross() -> None:
    found = choose([candidate("a", 1, (1, 2, 8, 64)), candidate("b", 64, (4, 4, 4, 4))], 2)
    assert found.choice == Choice(functions=("a", "b"), borders=(8,), place=2)
    assert (found.regret, found.likely) == (1.0, (1, 64))
    assert found.told("N") == "N < 8: made for 1; else: made for 64 (regret 1.00 by the model)"


def test_one_code_that_is_best_everywhere_is_enough() -> None:
    found = choose([candidate("a", 1, (1, 1, 1, 1)), candidate("b", 64, (1, 1, 1, 1))], 0)
    assert found.choice == Choice(functions=("a",))
    assert found.told("N") == "one code for all N, made for 1"


def test_no_more_codes_than_the_limit() -> None:
    found = choose([candidate(f"k{k}", size, tuple(1 + (k != other) for other in range(4)))
                    for k, size in enumerate(SIZES)], 0)
    assert len(set(found.choice.functions)) == 3
    assert len(found.choice.functions) == len(found.choice.borders) + 1
    assert found.regret == pytest.approx(2 ** 0.25, abs=1e-3)


def test_without_predictions_the_borders_are_between_the_likely_values() -> None:
    found = choose([candidate("a", 1, (), "same"), candidate("b", 4, (), "same"), candidate("c", 64, ())], 0)
    assert found.choice == Choice(functions=("a", "c"), borders=(8,))
    assert "borders between the likely values" in found.told("N")


def test_codes_that_the_model_cannot_predict_are_left_out_where_it_can_predict_two() -> None:
    found = choose([candidate("a", 1, ()), candidate("b", 4, (1, 1, 4, 8)), candidate("c", 64, (4, 4, 1, 1))], 0)
    assert found.choice == Choice(functions=("b", "c"), borders=(8,))
    assert choose([candidate("a", 1, ()), candidate("c", 64, (4, 4, 1, 1))], 0).choice.functions == ("a", "c")


GRAPH = from_text("""graph g(x: float32[N, 256], w: float32[256, 512]) {
  let y = MatMul(x, w)
  let t = Tanh(y)
  return t
}""")


def test_a_model_runs_every_code_and_computes_what_the_interpreter_does() -> None:
    machine = Target(vector_bits=256, vector_registers=16, cores=2)   # on another one code may be best for both
    options = PipelineOptions(tiling=TilingOptions(target=machine))
    model = polysched.compile(GRAPH, likely={"N": (16, 600)}, options=options)
    (choice,) = [c for c in model.symbols.values() if len(c.functions) > 1]
    first = f"if ({choice.functions[0]}(arrays, own)) return 1;"
    assert f"if (own[0] < {choice.borders[0]}) {{ {first} }}" in model.c_source
    assert f"N < {choice.borders[0]}: made for" in str(model.plan)
    assert set(choice.functions) <= set(model.kernels)
    rng = np.random.default_rng(0)
    sizes = {1, 2, 15, 16, 17, 600, *(b + d for b in choice.borders for d in (-1, 0, 1))}
    for size in sorted(s for s in sizes if s >= 1):
        given = {"x": rng.random((size, 256), np.float32), "w": rng.random((256, 512), np.float32)}
        np.testing.assert_allclose(model.run(given)["t"], interpret(GRAPH, given)["t"], rtol=1e-4, err_msg=str(size))


def test_a_kernel_without_the_size_has_one_code() -> None:
    graph = from_text("""graph g(x: float32[N, 4], y: float32[8]) {
      let a = Relu(x)
      let b = Tanh(y)
      return a, b
    }""")
    assert "made for N = 64" in str(polysched.compile(graph, likely={"N": 64}).plan)
    model = polysched.compile(graph, likely={"N": (1, 64)})
    assert len(model.plan.variants) == 1
    assert [len(c.functions) for c in model.symbols.values()] == [1, 1]


def test_the_driver_calls_by_the_size_of_the_kernel() -> None:
    plan = polysched.compile(GRAPH).plan
    choices = {k: Choice(functions=(f"a{k}", f"b{k}", f"c{k}"), borders=(3, 5)) for k in range(len(plan.walked))}
    text = driver_text(plan, choices)
    assert "if (own[0] < 3) { if (a0(arrays, own)) return 1; }" in text
    assert "else if (own[0] < 5) { if (b0(arrays, own)) return 1; }" in text
    assert "else if (c0(arrays, own)) return 1;" in text
