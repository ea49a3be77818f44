"""Producers go into loops of their consumers where that is legal, and the code computes the same."""

from __future__ import annotations

import random

import numpy as np
import pytest

from polysched.pipeline import optimize
from polysched.pipeline.recipe import Recipe, apply_recipe
from polysched.scop import from_c_text
from polysched.scop.expression import build, compute, placeholder
from polysched.scop.interpreter import execute
from polysched.search.rewriting.producers import fusible_consumer, inline, producers
from polysched.search.space import Explorer
from tests.search.programs import OPTIONS


def blur(rows: int = 6, columns: int = 9):
    image = placeholder("A", (rows + 2, columns + 2), "int32")
    across = compute((rows + 2, columns), lambda i, j: image[i, j] + image[i, j + 1] + image[i, j + 2], name="T")
    return build(compute((rows, columns), lambda i, j: across[i, j] + across[i + 1, j] + across[i + 2, j], name="O"))


def run(scop, values: np.ndarray) -> np.ndarray:
    (result,) = [a for a in scop.arrays if a.name == "O"]
    out = np.zeros(tuple(int(str(e)) for e in result.c_extents), values.dtype)
    execute(scop, {}, {"A": values, "O": out})
    return out


def alone(rule):
    return lambda choose, dependences: rule(choose, dependences, Recipe())


@pytest.mark.parametrize(("rule", "where"), [(inline, ["apart", "j"]), (fusible_consumer, ["apart", "i"])])
def test_a_producer_is_offered_the_loops_of_its_consumer(rule, where):
    scop = blur()
    found = list(Explorer(alone(rule), scop, OPTIONS).enumerate())
    assert [p.trace[0].value for p in found] == where
    assert found[0].recipe == Recipe()
    values = np.random.default_rng(3).integers(-9, 9, (8, 11), dtype=np.int32)
    expected = run(scop, values)
    made = optimize(scop, apply_recipe(OPTIONS, found[1].recipe))
    changed = made.schedule.dependences.scop
    assert changed != scop
    assert np.array_equal(run(changed, values), expected)
    assert np.array_equal(expected, sum(values[d:d + 6, c:c + 9] for d in range(3) for c in range(3)))


def test_a_recipe_with_a_placed_producer_replays_from_its_text():
    explorer = Explorer(alone(inline), blur(), OPTIONS)
    recipe = [p.recipe for p in explorer.enumerate()][1]
    again = Recipe.from_json(recipe.to_json())
    assert again == recipe
    assert optimize(blur(), apply_recipe(OPTIONS, again)).text == optimize(blur(), apply_recipe(OPTIONS, recipe)).text


NOT_ALONE = {
    "an argument": ("double t[n]", "", "for (int i = 0; i < n; i++) t[i] = a[i];"),
    "a sum": ("double b[n]", "double t[n];",
              "for (int i = 0; i < n; i++) { t[i] = 0; }\nfor (int i = 0; i < n; i++) t[i] += a[i];"),
    "its own results": ("double b[n]", "double t[n];",
                        "t[0] = a[0];\nfor (int i = 1; i < n; i++) t[i] = t[i - 1] + a[i];"),
}


@pytest.mark.parametrize("why", NOT_ALONE)
def test_what_is_no_producer(why):
    argument, local, loops = NOT_ALONE[why]
    scop = from_c_text(f"void f(int n, double a[n], double c[n], {argument}) {{\n#pragma scop\n{local}\n{loops}\n"
                       "for (int i = 0; i < n; i++) c[i] = t[i];\n#pragma endscop\n}")
    assert not list(producers(scop))


def test_two_readers_keep_a_producer_where_it_is():
    first = placeholder("A", (9,))
    middle = compute((9,), lambda i: first[i] * 2, name="T")
    last = compute((9,), lambda i: middle[i] + 1, name="U")
    assert not list(producers(build([last, compute((9,), lambda i: middle[i] + last[i], name="O")])))


def test_an_illegal_place_is_not_offered():
    """The consumer overwrites what the producer reads: computed later, it would read the new value."""
    scop = from_c_text("""void f(int n, double a[n]) {
#pragma scop
  double t[n];
  for (int i = 0; i < n; i++) t[i] = 2 * a[i];
  for (int i = 1; i < n; i++) a[i] = t[i - 1];
#pragma endscop
}""")
    found = list(Explorer(alone(inline), scop, OPTIONS).enumerate())
    assert [p.trace[0].value for p in found] == ["apart"]


def test_chains_are_inlined_one_by_one():
    first = placeholder("A", (12,), "int64")
    stages = [compute((12,), lambda i: first[i] + 1, name="T")]
    stages.append(compute((11,), lambda i: stages[0][i] * stages[0][i + 1], name="U"))
    scop = build(compute((10,), lambda i: stages[1][i] - stages[1][i + 1], name="O"))
    explorer = Explorer(alone(inline), scop, OPTIONS)
    draw = random.Random(2)
    values = np.arange(12, dtype=np.int64)
    expected = run(scop, values)
    counts = set()
    for _ in range(8):
        recipe = explorer.sample(draw).recipe
        counts.add(len(recipe.steps))
        made = optimize(scop, apply_recipe(OPTIONS, recipe)).schedule.dependences.scop
        assert np.array_equal(run(made, values), expected)
    assert counts >= {0, 1}
