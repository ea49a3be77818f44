"""Register blocks: as large as registers allow, reading few bytes."""


import pytest

from polysched.target import Target, host
from polysched.tensorize import find_intrinsic, match, operators
from polysched.tensorize.emission import EmissionOptions, blocking, emit_match
from polysched.tensorize.emission.plan import PlanChoice, Tiling, make_plan
from tests.tensorize.products import BYTES, product


@pytest.mark.parametrize(("name", "block"), [
    ("fma_f32_avx2", [2, 6]), ("fma_f64_avx2", [2, 6]), ("fma_f32_avx512", [4, 6])])
def test_blocks_leave_a_register_and_read_few_bytes(name: str, block: list[int]) -> None:
    """Three by four vectors need fewer loads, but all of 16 registers; two vectors by six read less than six by two."""
    intrinsic = find_intrinsic(name)
    dtype = intrinsic.output.dtype.name
    found = match(operators.gmm(m=1024, n=1024, k=1024, dtype=dtype, accumulator=dtype), intrinsic).matches[0]
    made = make_plan(found, emulated=False, target=Target(vector_bits=256, vector_registers=16, cores=2))
    assert sorted(loop.unroll for loop in made.unrolled) == block
    rows = next(loop for loop in made.unrolled if loop.unroll == block[-1])
    assert [v.name for v in intrinsic.inputs if blocking.uses(made.match, v.name, rows) and v.elements == 1]


@pytest.mark.parametrize(("unroll", "held"), [((4, 2), True), ((2, 4), True), ((4, 1), True), ((1, 4), False),
                                              ((6, 2), False)])
def test_what_rows_share_is_kept_in_a_register_where_one_is_left(unroll: tuple[int, int], *, held: bool) -> None:
    """Loaded once per block, not read again by every row; six rows of two vectors take all sixteen registers."""
    found = product("vpmaddwd", m=48, n=64, k=64)
    by_rows = next(m for m in match(operators.gmm(m=48, n=64, k=64, **BYTES), found.intrinsic).with_mirrors
                   if m.loops[0] == ("j",))
    text = emit_match(by_rows, "f", EmissionOptions(unroll=unroll, target=host())).text
    assert ('asm("" : "+x"(rB' in text) == held
    assert 'asm("" : "+x"(rA' not in text


def test_tiles_go_along_the_rows_of_the_result() -> None:
    """Sizes up to four times as long count; threads take tiles of both loops, which the first cache's panels bound."""
    found, target = product("vpdpbusd", m=1024, n=1024, k=1024), Target(cores=2)
    made = make_plan(found, emulated=False, target=target, parallel=True, choice=PlanChoice(tiling=Tiling.HANDED_OUT),
                     growth=(1, 2, 4))
    rows, columns, *_ = made.loops
    assert (rows.source, columns.source) == ("i", "")   # vectors of columns are the result's lanes
    assert columns.tile > 1
    text = emit_match(found, "f", EmissionOptions(plan=made, target=target)).text
    assert f"#pragma omp for schedule(dynamic) collapse(2) nowait\n    for (long b_{rows.name} = 0" in text
