"""The kernels of a model as programs to be tuned, and the model by what was found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from polysched.graph import from_text
from polysched.model.kernels import build_kernels, emitted, in_any_order, of_database
from polysched.model.planned import planned
from polysched.model.tasks import kernel_tasks
from polysched.pipeline.recipe import Recipe
from polysched.search import Budget, tune
from tests.search.programs import OPTIONS, Recorded

GRAPH = from_text("""graph twice(x: float32[8, 8], w: float32[8, 8]) {
  let a = MatMul(x, w)
  let b = MatMul(a, w)
  let c = MatMul(b, w)
  let y = Add(c, x)
  return y
}""")


def plain(choose, dependences) -> Recipe:
    return Recipe(vector_bits=0, tile="off", flags=(choose.one_of("flag", ("-O2",)),))


def test_a_kernel_that_runs_twice_counts_twice() -> None:
    tasks = kernel_tasks(planned(GRAPH))
    counts = {task.scop.name: task.count for task in tasks}
    assert counts["k_matmul"] == 2
    assert len({task.scop.name for task in tasks}) == len(tasks)
    assert sum(counts.values()) == len(planned(GRAPH).kernels)
    assert repr(tasks[0]).startswith("KernelTask(k_")


def test_a_compiled_model_has_the_code_that_was_found(tmp_path: Path) -> None:
    task = kernel_tasks(planned(GRAPH))[0]
    database = str(tmp_path / "tuned.db")
    found = tune(task.scop, space=plain, strategy="grid", model="projected", budget=Budget(trials=1),
                 options=in_any_order(OPTIONS), database=database, threads=2,
                 runner=Recorded(lambda recipe: 1.0 if recipe == Recipe() else 0.5))
    assert found.recipe.flags == ("-O2",)
    fragment = next(k.fragment for k in planned(GRAPH).kernels)
    function, flags = emitted(fragment, replace(OPTIONS, database=database), "f")
    assert flags == ("-O2",)
    assert "vector_size" not in function.text
    assert of_database(replace(OPTIONS, database=database)) != of_database(OPTIONS)
    (built,) = build_kernels([fragment], replace(OPTIONS, database=database)).values()
    assert built.object.exists()
