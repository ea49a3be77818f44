"""From which sizes on transformed code pays, by the models: conditions in C, none, or never."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from polysched.emit_c import CSource, EmitOptions, emit
from polysched.emit_c.alternatives.crossover import Crossover, crossover, entered
from polysched.emit_c.loop_ir.loops import For
from polysched.emit_c.loop_ir.traversal import walk_nodes
from polysched.target import Target
from polysched.tiling import TilingOptions, tile
from polysched.tiling.tree.rows_in_step import ROWS
from tests.schedules import pluto_of

MACHINE = Target(vector_bits=256, vector_registers=16, cores=4)
TEXT = """void f(int n, float A[{n}][{n}], float B[{n}][{n}]) {{
#pragma scop
  for (int i = 0; i < {n}; i++)
    for (int j = 0; j < {n}; j++)
      A[i][j] = 2 * B[i][j];
#pragma endscop
}}
"""


def source(n: str, **options: Any) -> CSource:
    tiled = tile(pluto_of(TEXT.format(n=n)), TilingOptions(target=MACHINE))
    return emit(tiled, options=EmitOptions(vector_bits=256, vector_registers=16, **options))


def test_sizes_that_parameters_decide_are_asked_for() -> None:
    made = crossover(source("n"), MACHINE)
    assert not made.never
    assert made.conditions
    assert all("n" in condition and ">=" in condition for condition in made.conditions)
    assert str(made) == " and ".join(made.conditions)


@pytest.mark.parametrize(("n", "pays"), [("4", False), ("1000", True)])
def test_known_sizes_are_decided_by_numbers_alone(n: str, pays: bool) -> None:
    made = crossover(source(n), MACHINE)
    decided = [eval(condition.replace("(double)", "")) for condition in made.conditions]
    assert (all(decided) and not made.never) is pays


def test_dearer_rows_want_larger_sizes() -> None:
    def least(target: Target) -> float:
        (condition,) = crossover(source("n"), target).conditions
        return sum(float(word) for word in condition.replace("(", " ").replace(")", " ").split() if word.isdigit())
    dear = replace(MACHINE, costs=replace(MACHINE.costs, row_cycles=100 * MACHINE.costs.row_cycles))
    assert least(dear) > least(MACHINE)


def test_nothing_to_wait_for_has_no_condition() -> None:
    assert str(Crossover()) == ""
    assert not Crossover().never


SWEEPS = """void f(int s, int n, double a[n][n]) {
#pragma scop
  for (int t = 0; t < s; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i][j] = (a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1] + a[i + 1][j]) / 5;
#pragma endscop
}
"""


def test_rows_in_step_want_rows_that_are_longer_than_the_last_is_behind_the_first() -> None:
    tiled = tile(pluto_of(SWEEPS), TilingOptions(target=MACHINE))
    made = emit(tiled, options=EmitOptions(vector_bits=256, vector_registers=16))
    behind = {node.behind for node in walk_nodes(made.loops) if isinstance(node, For) and node.behind}
    assert behind == {2 * (ROWS - 1)}
    assert f"(long)n - 2 >= {2 * (ROWS - 1) + ROWS}" in crossover(made, MACHINE).conditions


PRODUCT = """void f(int n, double C[restrict {n}][{n}], double A[restrict {n}][{n}], double B[restrict {n}][{n}]) {{
#pragma scop
  for (int i = 0; i < {n}; i++)
    for (int j = 0; j < {n}; j++)
      for (int k = 0; k < {n}; k++)
        C[i][j] += A[i][k] * B[k][j];
#pragma endscop
}}
"""


def product_of(n: str) -> CSource:
    tiled = tile(pluto_of(PRODUCT.format(n=n)), TilingOptions(target=MACHINE))
    return emit(tiled, options=EmitOptions(vector_bits=256, vector_registers=16))


def least_size(condition: str) -> int:
    text = condition.replace("(double)", "").replace("((long)n)", "n").replace("(long)n", "n")
    text = text.replace("/", "//")
    return next(n for n in range(1, 100_000) if eval(text, {"n": n}))


def test_a_product_is_entered_from_the_size_on_where_that_is_no_loss() -> None:
    """Two teams of one thread and a block from the heap: as long as a product of 9 or so rows as written."""
    (condition,) = entered(product_of("n"), MACHINE).conditions
    assert 6 <= least_size(condition) <= 16
    dear = replace(MACHINE, costs=replace(MACHINE.costs, lone_team_seconds=1e-4, small_block_seconds=1e-4))
    (later,) = entered(product_of("n"), dear).conditions
    assert least_size(later) > 2 * least_size(condition)


def test_what_costs_nothing_to_enter_is_always_entered() -> None:
    assert entered(source("n"), MACHINE).conditions == (), "one loop on threads in a branch of its own, no memory"
    assert entered(product_of("100"), MACHINE).conditions == ()
