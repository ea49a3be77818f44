"""What an instruction costs on a machine: full vectors may issue more slowly than the description says."""

from dataclasses import replace

import pytest

from polysched.scop.expression import axis, build, compute, placeholder, sum
from polysched.target import Costs, Target
from polysched.tensorize import INTRINSICS, match
from polysched.tensorize.choice import choose
from polysched.tensorize.emission.cost import busy_cycles, plan_cycles
from polysched.tensorize.emission.plan import make_plan

WIDE = Target(vector_bits=512, vector_registers=32)
NARROW_PIPES = Target(vector_bits=512, vector_registers=32, costs=Costs(vector_slowdown=2.0))


@pytest.mark.parametrize(("name", "factor"), [
    ("fma_f32_avx512", 2.0),      # fills the vector
    ("fma_f32_avx2", 1.0),        # half of it
    ("tdpbssd", 1.0),             # a unit of its own
    ("cblas_sgemm", 1.0),         # a library's own affair
])
def test_full_vectors_issue_as_slowly_as_the_machine_says(name: str, factor: float) -> None:
    intrinsic = INTRINSICS[name]
    there = intrinsic.on(NARROW_PIPES)
    assert there.cost.cycles == factor * intrinsic.cost.issue_cycles
    assert there.on(NARROW_PIPES) is there
    assert there.on(WIDE) == intrinsic.on(WIDE) == intrinsic


def product(n: int = 96, left: str = "float32", right: str = "float32", result: str = "float32"):
    A, B = placeholder("A", (n, n), left), placeholder("B", (n, n), right)
    k = axis("k")
    return build(compute((n, n), lambda i, j: sum(A[i, k].astype(result) * B[k, j].astype(result), over=k), name="C"))


def test_packed_operands_cost_what_copies_take_on_the_machine() -> None:
    found = match(product(96, "uint8", "int8", "int32"), INTRINSICS["vpdpbusd"]).matches[0]
    dear = found.on(replace(WIDE, costs=Costs(copied_element_cycles=2.0)))
    assert dear.cost_cycles > found.cost_cycles
    assert dear.on(WIDE).cost_cycles == found.cost_cycles
    plan = make_plan(found, emulated=False, target=WIDE)
    assert plan_cycles(make_plan(found, emulated=False, target=NARROW_PIPES), WIDE) > plan_cycles(plan, WIDE)


def test_matches_plans_and_choices_take_the_costs_of_the_machine() -> None:
    found = match(product(), INTRINSICS["fma_f32_avx512"]).matches[0]
    there = found.on(NARROW_PIPES)
    assert there.cost_cycles > found.cost_cycles
    plans = {target.costs.vector_slowdown: make_plan(found, emulated=False, target=target)
             for target in (WIDE, NARROW_PIPES)}
    assert busy_cycles(plans[2.0], NARROW_PIPES) > busy_cycles(plans[1.0], WIDE)
    chosen = choose(product(), intrinsics=[INTRINSICS["fma_f32_avx512"]], target=NARROW_PIPES)
    assert chosen is not None
    assert chosen.intrinsic.cost.slowdown == 2.0
