"""Copies by one table of offsets per group fill a buffer as the match says, wherever addresses are sums."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from polysched.scop.body import Load
from polysched.tensorize.emission.gather import OUTSIDE, digits, gather, separable
from polysched.tensorize.emission.nest import content_of
from polysched.tensorize.proofs.contents import places_of
from tests.tensorize.emission.packed import PRELUDE, Packed, compiled_c, planned
from tests.tensorize.emission.packed import digits as taken_apart


@pytest.fixture(scope="module")
def plans(tmp_path_factory: pytest.TempPathFactory) -> list[Packed]:
    return planned(tmp_path_factory.mktemp("gather"), most=2)


def gathered(one: Packed) -> list[tuple[str, Load]]:
    """The inputs that may be copied this way."""
    found = []
    for operand in one.operands:
        held = content_of(one.match, operand)
        alone = len(places_of(one.match.intrinsic.contraction, operand)) == 1
        if isinstance(held, Load) and alone and separable(one.match, operand, held):
            found.append((operand, held))
    return found


def test_buffers_are_filled_as_the_match_says(plans: list[Packed], tmp_path_factory: pytest.TempPathFactory) -> None:
    lines, jobs = [PRELUDE], []
    for one in plans:
        for operand, held in gathered(one):
            name = f"gather_{one.name}_{operand}"
            kind = one.match.intrinsic.parsed.operand(operand).dtype.c_name
            lines += [f"void {name}({kind} *to, {held.dtype.c_name} *from) {{",
                      *gather(one.plan, operand, held, copy="if (ps_inside) to[ps_at] = from[ps_from_at];"), "}"]
            jobs.append((one, operand, held, name))
    library = compiled_c("\n".join(lines), tmp_path_factory.mktemp("gathered"))
    assert len(jobs) > 10
    for one, operand, held, name in jobs:
        source = one.arrays[one.match.fragment.statement.access(held.reference).array]
        to = np.zeros(one.plan.place(operand).elements, one.match.intrinsic.parsed.operand(operand).dtype.name)
        getattr(library, name)(*(ctypes.c_void_p(x.ctypes.data) for x in (to, source)))
        np.testing.assert_array_equal(to, one.expected(operand), err_msg=name)


def test_addresses_are_sums_only_in_boxes_and_of_affine_subscripts(plans: list[Packed]) -> None:
    by_name = {p.name: p for p in plans}
    triangle = by_name["triangle_0"].match
    cut = {triangle.fragment.statement.access(held.reference).array: o for o in by_name["triangle_0"].operands
           if isinstance(held := content_of(triangle, o), Load)}
    for name, operand, expected in (
            ("product_0", "X", True), ("triangle_0", cut["A"], False), ("triangle_0", cut["B"], True),
            ("quotient_0", "X", False), ("reversed_0", "X", True), ("shared_0", "X", True)):
        held = content_of(by_name[name].match, operand)
        assert isinstance(held, Load)
        assert separable(by_name[name].match, operand, held) is expected, name


def test_digits_are_those_of_a_mixed_radix_number(plans: list[Packed]) -> None:
    found = plans[0].match
    groups = list(range(len(found.groups)))
    extents = {d.name: int(d.extent) for d in found.intrinsic.contraction.dimensions}
    for lane in range(4):
        scope: dict[str, int] = {f"c{g}": lane % found.extent(g) for g in groups}
        for line in digits(found, groups):
            name, text = line.removeprefix("long ").rstrip(";").split(" = ")
            scope[name] = eval(text.replace("/", "//"), {}, dict(scope))
        for g in groups:
            wanted = taken_apart([(n, extents[n]) for n in found.groups[g].dimensions], lane % found.extent(g))
            assert {n: scope[f"d_{n}"] for n in wanted} == wanted


def test_the_mark_of_padding_is_below_every_address() -> None:
    assert eval(OUTSIDE.replace("L", "")) == -(1 << 60)
