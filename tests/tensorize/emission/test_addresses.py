"""Addresses of rows whose distance is known at run time: few multiples of it reach all of them."""

from __future__ import annotations

import pytest

from polysched.target import host
from polysched.tensorize.emission.addresses import (
    SCALES,
    first_iteration,
    further_arguments,
    multiples,
    pointer,
    row_multiples,
    row_pointer,
    row_pointers,
    step_arguments,
    unknown_steps,
)
from polysched.tensorize.emission.plan import Plan, general_plan, make_plan
from tests.tensorize.test_joining import TEXT, program_of


def plan_of(unroll: tuple[int, int]) -> Plan:
    program = program_of(TEXT)
    assert program.general is not None
    made = make_plan(program.match, emulated=False, unroll=unroll, target=host())
    return general_plan(made, program.general.match, emulated=False)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of((3, 2))


@pytest.mark.parametrize("width", [1, 2, 4, 8])
@pytest.mark.parametrize("count", [1, 2, 3, 6, 14, 16])
def test_every_row_is_a_multiple_by_a_scale(count: int, width: int) -> None:
    held = multiples(count, width)
    for row in range(1, count):
        assert row in held or any(row == m * scale for m in held for scale in (2, 4, 8) if scale * width in SCALES)


def test_bytes_need_the_odd_multiples() -> None:
    assert multiples(14, 1) == [1, 3, 5, 7, 9, 11, 13]


def test_steps_and_sizes_are_handed_over(plan: Plan) -> None:
    (place,) = [p for p in plan.places if p.steps]
    assert place.in_place is not None
    assert step_arguments(plan) == [*(f"ps_step_{place.operand}_{name}" for name in place.steps),
                                    f"ps_in_place_{place.operand}"]
    assert further_arguments(plan)[:len(step_arguments(plan))] == step_arguments(plan)


def test_a_row_is_told_from_the_first_one(plan: Plan) -> None:
    (place,) = [p for p in plan.places if p.steps]
    loop = next(x for x in plan.unrolled if plan.uses(place.operand, x))
    assert row_pointer(plan, place, {loop.name: 0}) == f"ps_row_{place.operand}"
    assert row_pointer(plan, place, {loop.name: 1}).endswith(f"ps_step_{place.operand}_{loop.name}")
    assert any(f"ps_row_{place.operand} = {place.operand}" in line for line in row_pointers(plan))
    assert [*row_multiples(plan)] == [], "the scales of addresses reach both rows"
    assert [*unknown_steps(plan)] == [f'__asm__("" : "+r"(ps_step_{place.operand}_{loop.name}));']
    assert first_iteration(plan, loop) == f"{loop.name} * {loop.unroll} - ps_moved_{loop.name}"


def test_multiples_that_addresses_do_not_form_are_computed_ahead() -> None:
    plan = plan_of((7, 2))
    (place,) = [p for p in plan.places if p.steps]
    (loop,) = [x for x in plan.unrolled if plan.uses(place.operand, x)]
    step = f"ps_step_{place.operand}_{loop.name}"
    assert [*row_multiples(plan)] == [f"long {step}_{m} = {step} * {m};" for m in multiples(7, 4)[1:]]
    assert row_pointer(plan, place, {loop.name: 6}) == f"ps_row_{place.operand} + {step}_3 * 2"


def test_other_operands_have_their_strides_in_the_code(plan: Plan) -> None:
    place = plan.place("W")
    assert pointer(plan, place, {}).startswith("W + ")
    assert row_pointer(plan, place, {}) == pointer(plan, place, {})
